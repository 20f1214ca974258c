import { useEffect } from 'react'
import type { RoomState } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { useSession } from '../accounts/session.ts'
import { useKnowsBlocked } from '../accounts/use-blocked.ts'
import { useClient } from '../connection/client.ts'
import { useCut } from '../connection/cut.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { lookOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import styles from '../rooms/rooms.module.css'
import { goTo } from '../rooms/route.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { tourTexts as t } from '../texts/tour.ts'
import { welcomeTexts } from '../texts/welcome.ts'
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
    <aside className={styles.tourHint} aria-label={t.title}>
      <p className="grow">
        <strong>{t.position({ number: at + 1, count: tourSteps.length })}</strong> {t.hints[tour.step.name]}
      </p>
      {next && (
        <a className="button small" href={linkToStep(next.name)}>
          {t.next({ title: welcomeTexts.steps[next.name] })}
        </a>
      )}
      <button type="button" className="icon-button small" aria-label={t.end} title={t.end} onClick={tour.end}>
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
    <aside className={`${styles.tourHint} ${styles.demo}`} aria-label={t.demo.title}>
      <p className="grow">
        {t.demo.hint({
          strong: (parts) => <strong>{parts}</strong>,
          said: (parts) => <span className={styles.said}>{parts}</span>,
        })}
      </p>
      <a className="button small plain" href={linkToStep('guest')}>
        {t.demo.tour}
      </a>
      {!isCut && (
        <button type="button" className="button small plain" onClick={() => cut(true)}>
          <Icon name="plug" />
          {t.demo.drop}
        </button>
      )}
      <BecomeModerator />
      <button
        type="button"
        className="icon-button small"
        aria-label={t.demo.hide}
        title={t.demo.hide}
        onClick={tour.hide}
      >
        <Icon name="close" />
      </button>
    </aside>
  )
}

/** In the demo, somebody may become moderator of the rooms that the demo gave to this browser. */
function BecomeModerator() {
  const client = useClient()
  const { status } = useSession()
  const { rights, live, account, reopen } = useOpenRoom()
  const tell = useTell()
  if (!status?.demo || rights.isModerator || !lookOf(live.ref).isOfDemo) return null
  const become = async () => {
    await client.status.becomeModerator()
    const asked = { action: 'permissions', userAddress: account, channelId: live.ref.id ?? 'global' } as const
    const answer = await client.moderation.inspect(asked)
    const isHere = 'permissions' in answer && (answer.permissions.canMute || answer.permissions.canDelete)
    if (!isHere) return tell(t.demo.elsewhere)
    tell(t.demo.moderator)
    reopen()
    goTo(live.ref, 'moderation')
  }
  return (
    <ActButton className="button small plain" onPress={become}>
      <Icon name="shield" />
      {t.demo.moderate}
    </ActButton>
  )
}
