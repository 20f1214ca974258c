import { useState } from 'react'
import type { moderation } from '#shared/api/moderation/moderation'
import type { CallOf, OutputOf } from '#shared/kit/contract'
import { withPlainNames } from '#shared/kit/room-agents'
import { useClient } from '../connection/client.ts'
import { nameOf } from '../kit/format.ts'
import { Problem } from '../kit/notice.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { locale } from '../texts/language.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import styles from './dry-run.module.css'

type Proposal = Omit<CallOf<typeof moderation.simulate>, 'room' | 'last'>
type Outcome = OutputOf<typeof moderation.simulate>

const tested = 500
const sampled = 4

/** Shows which of the last messages a proposed word or rule would have refused, before it is saved. */
export function DryRun({ proposal }: { proposal: Proposal }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [run, setRun] = useState<{ of: string; outcome: Outcome | null; error: unknown } | null>(null)
  const proposed = JSON.stringify(proposal)
  const isCurrent = run?.of === proposed

  const start = async () => {
    try {
      const outcome = await client.moderation.simulate({ room: live.ref, last: tested, ...proposal })
      setRun({ of: proposed, outcome, error: null })
    } catch (error) {
      setRun({ of: proposed, outcome: null, error })
    }
  }

  return (
    <section className={styles.dryRun} aria-label={t.dryRun.title}>
      <div className="row">
        <span className="grow hint">{t.dryRun.hint}</span>
        <button type="button" className="button small" onClick={start}>
          {t.dryRun.start}
        </button>
      </div>
      {isCurrent && <Problem error={run.error} />}
      {isCurrent && run.outcome && <OutcomeText outcome={run.outcome} />}
    </section>
  )
}

function OutcomeText({ outcome }: { outcome: Outcome }) {
  return (
    <div className="stack" role="status">
      <p className="numerals">
        {t.dryRun.outcome({
          hits: outcome.hits,
          tested: outcome.tested,
          authors: outcome.authors,
          time: outcome.milliseconds.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
          strong: (parts) => <strong>{parts}</strong>,
          hint: (parts) => <span className="hint">{parts}</span>,
        })}
      </p>
      <ul className={styles.samples}>
        {outcome.sample.slice(0, sampled).map((message) => (
          <li key={message.id}>
            <strong>{nameOf(message.sender.name, message.sender_address)}</strong>{' '}
            <span dir="auto">{withPlainNames(message.content)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
