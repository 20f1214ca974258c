import { useState } from 'react'
import { mediaIn } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import { steps, Verdict } from '#shared/api/moderation/verdict'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, lengthOf, secondsUntil } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { problemText } from '../kit/problem.ts'
import { refusalText } from '../kit/refusals.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import messagesStyles from './messages.module.css'
import styles from './verdict-card.module.css'
import verdictWhyStyles from './verdict-why.module.css'

/** Explains why a message was refused: the step that decided, its rule, and the actions that are possible now. */
export function VerdictCard({ message, clear }: { message: LocalMessage; clear: string }) {
  const { live, rewrite } = useOpenRoom()
  const [asksWhy, setAsksWhy] = useState(false)
  const read = Verdict.safeParse(message.refusal?.verdict)
  const verdict = read.success ? read.data : null
  const step = verdict?.step ?? null
  const said = verdict?.code && verdict.text !== null ? refusalText(verdict.code, verdict.text) : verdict?.text
  const text = said ?? (message.refusal ? problemText(message.refusal) : t.verdict.unknown)

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

/** The list of all steps of the verdict, with the one that decided. */
function VerdictWhy({ verdict, onClose }: { verdict: Verdict | null; onClose: () => void }) {
  const decided = verdict?.step ? steps.indexOf(verdict.step) : -1
  return (
    <Dialog title={t.verdict.checks} onClose={onClose}>
      <div className="stack">
        <p className="hint">{t.verdict.checksHint}</p>
        <ol className={verdictWhyStyles.pipeline}>
          {steps.map((step, at) => (
            <li
              key={step}
              className={at === decided ? verdictWhyStyles.decided : at < decided ? verdictWhyStyles.passed : ''}
            >
              <span className={`${verdictWhyStyles.stepMark} numerals`}>
                {at < decided ? <Icon name="check" /> : at + 1}
              </span>
              <span>
                <strong>{t.checks[step]}</strong>
                <small>{at === decided ? (verdict?.text ?? t.questions[step]) : t.questions[step]}</small>
              </span>
            </li>
          ))}
        </ol>
        {decided < 0 && <p className="hint">{t.verdict.untold}</p>}
      </div>
    </Dialog>
  )
}
