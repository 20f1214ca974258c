import type { RoomState } from '#client/sdk/types'
import { longestMessage } from '#shared/kit/lengths'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { fullTimeOf, isolated, lengthOf, secondsUntil } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { kindOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { contentRules } from '../rooms/rule-names.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './messages.module.css'

/** What may be sent beside text. */
export type Offers = Record<'photo' | 'gif' | 'pixel_art' | 'location' | 'voice' | 'file', boolean>

interface Standing {
  canWrite: boolean
  canPoll: boolean
  offers: Offers
  placeholder: string
  /** Seconds until slow mode lets the next message through. */
  waitSeconds: number
}

/** Why nothing at all can be sent, by the refusal of a text. */
const shutTexts = new Map<string | null, string>([
  ['SUSPENDED', t.composer.suspended],
  ['ROOM_ARCHIVED', t.composer.archived],
  ['USER_NOT_FOUND', t.composer.deleted],
])

/** The kinds of content that the account may send here now. */
export function useStanding(state: RoomState): Standing {
  const { live, sealed, isSealed } = useOpenRoom()
  const { me, room } = state
  // Until its record is there, nobody knows whether its files are to be sealed.
  const isKnown = room !== null || !kindOf(live.ref).mayShareKey
  const storesFiles = Boolean(useSession().status?.media) && isKnown
  const now = useNowUntil(me.next_send_at)
  const text = me.capabilities.text
  const isMuted = me.is_muted
  const refusal = text?.ok === false ? text.code : null
  const isSilenced = refusal === 'READ_ONLY'
  const shut = shutTexts.get(refusal) ?? null
  const canWrite = !isMuted && !isSilenced && shut === null
  const may = (sendable: keyof Offers) => canWrite && me.capabilities[sendable]?.ok !== false
  return {
    canWrite,
    offers: {
      photo: storesFiles && may('photo'),
      gif: storesFiles && may('gif'),
      // It is drawn for everybody: what is stored of it is not sealed.
      pixel_art: storesFiles && !isSealed && may('pixel_art'),
      location: may('location'),
      voice: storesFiles && may('voice'),
      file: storesFiles && may('file'),
    },
    canPoll: !isSealed && !isMuted && shut === null && me.capabilities.poll?.ok !== false,
    placeholder:
      shut ??
      (isMuted
        ? t.composer.muted
        : isSilenced
          ? sealed === 'epoch'
            ? t.composer.unread
            : t.composer.readOnly
          : sealed === 'epoch'
            ? t.composer.direct
            : room
              ? t.composer.room({ room: isolated(room.name) })
              : t.composer.anyRoom),
    waitSeconds: secondsUntil(me.next_send_at, now),
  }
}

/** True if the room's rules forbid a kind of content, as opposed to read-only mode, a mute or a word filter. */
const isRuledOut = (code: string | null | undefined): boolean =>
  code === 'LINKS_NOT_ALLOWED' || code === 'CONTENT_NOT_ALLOWED'

/** The line above the field: kinds of content that are off, the wait of slow mode, and the characters left. */
export function ComposerStatus(props: { state: RoomState; standing: Standing; length: number }) {
  const { state, standing, length } = props
  const { rules, me } = state
  const shownOff = contentRules.filter(
    ({ key, sendable }) =>
      (key === 'links_allowed' || key === 'polls_allowed') && isRuledOut(me.capabilities[sendable]?.code),
  )
  const most = Math.min(rules.max_message_length || longestMessage, longestMessage)

  return (
    <div className={styles.composerStatus}>
      {me.is_muted && <MutedBanner state={state} />}
      {me.capabilities.text?.code === 'SUSPENDED' && <SuspendedBanner />}
      {state.access?.state === 'warned' && (
        <p className="banner">
          <Icon name="warn" />
          <span>{state.access.reason ? t.status.warnedBecause({ reason: state.access.reason }) : t.status.warned}</span>
        </p>
      )}
      {length > longestMessage && (
        <p className="banner" role="status">
          <Icon name="warn" />
          <span>{t.status.tooLong}</span>
        </p>
      )}
      <div className="row wrap">
        {rules.read_only && (
          <span className="chip">
            <Icon name="lock" />
            {t.status.readOnly}
          </span>
        )}
        {shownOff.map(({ key }) => (
          <span key={key} className="chip">
            <Icon name={key === 'links_allowed' ? 'link' : 'poll'} />
            {key === 'links_allowed' ? t.status.linksOff : t.status.pollsOff}
          </span>
        ))}
        {rules.slow_mode_seconds > 0 && (
          <span className={`chip numerals ${standing.waitSeconds > 0 ? 'warm' : ''}`} role="timer">
            <Icon name="clock" />
            {standing.waitSeconds > 0
              ? t.status.next({ time: lengthOf(standing.waitSeconds) })
              : t.status.slowMode({ time: lengthOf(rules.slow_mode_seconds) })}
          </span>
        )}
        {length > most * 0.6 && (
          <span className={`chip numerals ${length > most ? 'grave' : ''}`}>
            {length} / {most}
          </span>
        )}
      </div>
    </div>
  )
}

/** Why the account is suspended, and what it still can do. */
function SuspendedBanner() {
  const client = useClient()
  const { account } = useSession()
  const { value } = useLoaded(`suspension ${account}`, () => client.accounts.ownProfile())
  return (
    <p className="banner" role="status">
      <Icon name="warn" />
      <span>
        {value?.suspension_reason ? t.status.suspendedBecause({ reason: value.suspension_reason }) : t.status.suspended}
        <br />
        {t.status.suspendedHint}
      </span>
    </p>
  )
}

function MutedBanner({ state }: { state: RoomState }) {
  const until = state.me.muted_until
  const now = useNowUntil(until)
  const left = secondsUntil(until, now)
  const reason = state.access?.state === 'muted' ? state.access.reason : null
  return (
    <p className="banner" role="status">
      <Icon name="mute" />
      <span>
        {reason ? t.status.mutedBecause({ reason }) : t.status.muted}{' '}
        {until ? (
          <strong className="numerals" role="timer" title={fullTimeOf(until)}>
            {t.status.mutedFor({ time: lengthOf(left) })}
          </strong>
        ) : (
          t.status.mutedForever
        )}
      </span>
    </p>
  )
}
