import { useEffect } from 'react'
import { Icon } from '../kit/icon.tsx'
import { useRoomList } from '../rooms/use-rooms.ts'
import { linkTo, tourSteps } from './steps.ts'
import { useShownTour } from './use-tour.ts'

/** What to do in this step, and where the next one is. */
export function TourHint({ isLive }: { isLive: boolean }) {
  const rooms = useRoomList()
  const isThere = isLive && rooms.value !== null
  const tour = useShownTour()
  useEffect(() => {
    if (isThere) tour?.arrived()
  }, [isThere, tour])
  if (!tour?.step) return null
  const at = tourSteps.indexOf(tour.step)
  const next = tourSteps[at + 1]
  return (
    <aside className="tour-hint" aria-label="Tour">
      <p className="grow">
        <strong>
          {at + 1} of {tourSteps.length}
        </strong>{' '}
        {tour.step.hint}
      </p>
      {next && (
        <a className="button small" href={linkTo(next.name)}>
          Next: {next.title}
        </a>
      )}
      <button type="button" className="icon-button small" aria-label="End the tour" onClick={tour.end}>
        <Icon name="close" />
      </button>
    </aside>
  )
}
