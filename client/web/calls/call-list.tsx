import type { Call } from '#shared/api/meetings/calls'
import { isSameAccount } from '#shared/kit/accounts'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { dayOf, fullTimeOf, lengthOf, nameOf, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { callTexts as t } from '../texts/calls.ts'
import { controlTexts } from '../texts/controls.ts'
import styles from './calls.module.css'
import { ringUp } from './ring.ts'
import { useCalls } from './use-calls.ts'

/** The calls of the account, newest first. */
export function CallList() {
  const { more, ...calls } = useCalls()
  return (
    <section aria-labelledby="call-history">
      <h2 id="call-history">{t.history}</h2>
      <Listed
        loaded={calls}
        empty={
          <Blank icon="phone" title={t.empty}>
            <p>{t.emptyHint}</p>
          </Blank>
        }
      >
        {(all) => (
          <ul className="call-rows">
            {all.map((call) => (
              <CallRow key={call.id} call={call} />
            ))}
          </ul>
        )}
      </Listed>
      {more && (
        <ActButton className="button small" onPress={more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </section>
  )
}

function CallRow({ call }: { call: Call }) {
  const client = useClient()
  const { account, status } = useSession()
  const isMine = isSameAccount(call.caller_address, account)
  const other = isMine ? call.callee : call.caller
  const name = nameOf(other.display_name ?? other.username, other.address)
  const picture = useStoredPicture(other.avatar_url)
  const isMissed = call.status === 'missed' && !isMine
  return (
    <li className={styles.callRow}>
      <Avatar id={other.address} name={name} picture={picture} />
      <div className="grow">
        <strong>{name}</strong>
        <small className={isMissed ? styles.missed : ''}>{courseOf(call, isMine)}</small>
      </div>
      <small className="numerals">
        <time dateTime={call.started_at} title={fullTimeOf(call.started_at)}>
          {dayOf(call.started_at)}, {timeOf(call.started_at)}
        </time>
        {call.duration_seconds > 0 && <span>{lengthOf(call.duration_seconds)}</span>}
      </small>
      {status?.meetings === null && (
        <ActButton
          className="icon-button small"
          aria-label={t.call({ name })}
          title={t.callAgain}
          onPress={() => ringUp(client, other.address, call.call_type)}
        >
          <Icon name="phone" />
        </ActButton>
      )}
    </li>
  )
}

/** How a call went, as the one who looks sees it. */
function courseOf({ status, call_type: kind }: Call, isMine: boolean): string {
  const texts = {
    ringing: isMine ? t.ringingOut : t.ringingIn,
    active: t.active,
    completed: isMine ? t.outgoing : t.incoming,
    missed: isMine ? t.notAnswered : t.missed,
    declined: isMine ? t.declined : t.youDeclined,
    failed: t.failed,
  }
  return texts[status]({ kind })
}
