import { useState } from 'react'
import { mediaIn } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import { steps, Verdict } from '#shared/api/moderation/verdict'
import { fullTimeOf, lengthOf, secondsUntil } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { problemText } from '../kit/problem.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import messagesStyles from './messages.module.css'
import styles from './verdict-card.module.css'
import { VerdictWhy } from './verdict-why.tsx'

/** Explains why a message was refused: the step that decided, its rule, and the actions that are possible now. */
export function VerdictCard({ message, clear }: { message: LocalMessage; clear: string }) {
  const { live, rewrite } = useOpenRoom()
  const [asksWhy, setAsksWhy] = useState(false)
  const read = Verdict.safeParse(message.refusal?.verdict)
  const verdict = read.success ? read.data : null
  const step = verdict?.step ?? null
  const text = verdict?.text ?? (message.refusal ? problemText(message.refusal) : t.verdict.unknown)

  return (
    <section className={styles.verdict} aria-label={t.verdict.title}>
      <header>
        <Icon name="shield" />
        <strong>{text}</strong>
      </header>
      {step && (
        <p className={styles.verdictStep}>
          <span className="numerals">
            {t.verdict.step({ number: steps.indexOf(step) + 1, count: steps.length, name: t.checks[step] })}
          </span>
          {verdict?.rule && <span className="chip">{t.verdict.rule(verdict.rule)}</span>}
        </p>
      )}
      <Again until={verdict?.until ?? null} />
      <div className="row wrap">
        {!mediaIn(clear, message.message_type) && (
          <button type="button" className="button small" onClick={() => rewrite(message, clear)}>
            <Icon name="pencil" />
            {t.state.edit}
          </button>
        )}
        <button type="button" className="button small plain" onClick={() => live.discard(message.client_msg_id)}>
          {t.state.discard}
        </button>
        <button type="button" className="button small plain" onClick={() => setAsksWhy(true)}>
          {t.verdict.why}
        </button>
      </div>
      {asksWhy && <VerdictWhy verdict={verdict} onClose={() => setAsksWhy(false)} />}
    </section>
  )
}

function Again({ until }: { until: string | null }) {
  const now = useNowUntil(until)
  if (!until) return null
  const left = secondsUntil(until, now)
  return (
    <p className={`${messagesStyles.state} numerals`} title={fullTimeOf(until)}>
      <Icon name="clock" />
      {left > 0 ? t.verdict.again({ time: lengthOf(left) }) : t.verdict.againNow}
    </p>
  )
}
