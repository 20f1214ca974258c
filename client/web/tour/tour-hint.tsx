import { useEffect } from 'react'
import type { RoomState } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { useSession } from '../accounts/session.ts'
import { useKnowsBlocked } from '../accounts/use-blocked.ts'
import { useCut } from '../connection/cut.ts'
import { Icon } from '../kit/icon.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import styles from '../rooms/rooms.module.css'
import { useRoomList } from '../rooms/use-rooms.ts'
import { BecomeModerator } from './become-moderator.tsx'
import { linkToStep, tourSteps } from './steps.ts'
import { useShownTour } from './use-tour.ts'

/** The strip of the demo: the hint of the current step with a link to the next one, else what can be tried in the demo alone. */
export function TourHint({ state }: { state: RoomState }) {
  const { account } = useOpenRoom()
  const rooms = useRoomList()
  const isThere = useKnowsBlocked() && state.status === 'live' && rooms.value !== null
  const tour = useShownTour()
  const ofOthers =
    state.messages.findLast((one) => !isSameAccount(one.sender_address, account) && !one.is_deleted)?.id ?? null
  useEffect(() => {
    if (isThere) tour?.arrived(ofOthers)
  }, [isThere, tour, ofOthers])
  return tour?.step ? <TourStepHint /> : <DemoControls />
}

/** The hint alone, for a screen that has no room. */
export function TourStepHint() {
  const tour = useShownTour()
  if (!tour?.step) return null
  const at = tourSteps.indexOf(tour.step)
  const next = tourSteps[at + 1]
  return (
    <aside className={styles.tourHint} aria-label="Tour">
      <p className="grow">
        <strong>
          {at + 1} of {tourSteps.length}
        </strong>{' '}
        {tour.step.hint}
      </p>
      {next && (
        <a className="button small" href={linkToStep(next.name)}>
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

function DemoControls() {
  const { status } = useSession()
  const tour = useShownTour()
  const [isCut, cut] = useCut()
  if (!status?.demo || !tour || tour.isHidden) return null
  return (
    <aside className={`${styles.tourHint} ${styles.demo}`} aria-label="Demo">
      <p className="grow">
        <strong>Demo.</strong> <span className={styles.said}>The others here are scripted.</span>
      </p>
      <a className="button small plain" href={linkToStep('guest')}>
        Tour
      </a>
      {!isCut && (
        <button type="button" className="button small plain" onClick={() => cut(true)}>
          <Icon name="plug" />
          Drop my connection
        </button>
      )}
      <BecomeModerator />
      <button type="button" className="icon-button small" aria-label="Hide this" title="Hide this" onClick={tour.hide}>
        <Icon name="close" />
      </button>
    </aside>
  )
}
