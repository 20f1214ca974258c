import { useState } from 'react'
import type { moderation } from '#shared/api/moderation'
import type { CallOf, OutputOf } from '#shared/kit/contract'
import { withPlainNames } from '#shared/kit/room-agents'
import { useClient } from '../connection/client.ts'
import { nameOf, plural } from '../kit/format.ts'
import { Problem } from '../kit/notice.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
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
    <section className={styles.dryRun} aria-label="Dry run">
      <div className="row">
        <span className="grow hint">What would it have done?</span>
        <button type="button" className="button small" onClick={start}>
          Dry run
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
        Would have refused <strong>{outcome.hits}</strong> of {outcome.tested}, from{' '}
        {plural(outcome.authors, 'person', 'people')}
        <span className="hint"> · judged in {outcome.milliseconds.toFixed(1)} ms</span>
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
