import { navigate } from 'wouter/use-browser-location'
import { linkTo } from '#shared/kit/pages'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import { AgentHead } from './agent-head.tsx'
import { missingWords } from './agent-words.ts'

/** The place of an agent that loads, or that could not be loaded. */
export function AgentMissing({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const back = { title: 'Back to the agents', go: () => navigate(linkTo('agents')), isAlways: true }
  if (!error)
    return (
      <main className="room" aria-label="Agent">
        <AgentHead title="Agent" back={back} />
        <Skeleton rows={9} label="Loading the agent" />
      </main>
    )
  return (
    <main className="room" aria-label="Agent">
      <AgentHead title="Agent" back={back} />
      <Blank icon="warn" title="This agent cannot be opened">
        <LoadProblem error={error} words={missingWords} />
        <button type="button" className="button small" onClick={onRetry}>
          Try again
        </button>
      </Blank>
    </main>
  )
}
