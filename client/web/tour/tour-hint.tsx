import { useEffect } from 'react'
import type { RoomState } from '#client/sdk/types'
import { useKnowsBlocked } from '../accounts/use-blocked.ts'
import { Icon } from '../kit/icon.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { linkTo, tourSteps } from './steps.ts'
import { useShownTour } from './use-tour.ts'

/** The hint of the current step, with a link to the next one. */
export function TourHint({ state }: { state: RoomState }) {
  const { account } = useOpenRoom()
  const rooms = useRoomList()
  const isThere = useKnowsBlocked() && state.status === 'live' && rooms.value !== null
  const tour = useShownTour()
  const ofOthers = state.messages.findLast((one) => one.sender_address !== account && !one.is_deleted)?.id ?? null
  useEffect(() => {
    if (isThere) tour?.arrived(ofOthers)
  }, [isThere, tour, ofOthers])
  return <TourStepHint />
}

/** The hint alone, for a screen that has no room. */
export function TourStepHint() {
  const tour = useShownTour()
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
      <button
        type="button"
        className="icon-button small"
        aria-label="End the tour"
        title="End the tour"
        onClick={tour.end}
      >
        <Icon name="close" />
      </button>
    </aside>
  )
}
