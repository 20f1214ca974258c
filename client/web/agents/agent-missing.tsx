import { navigate } from 'wouter/use-browser-location'
import { linkTo } from '#shared/kit/pages'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { AgentHead } from './agent-head.tsx'
import { missingWords } from './agent-words.ts'

/** The place of an agent that loads, or that could not be loaded. */
export function AgentMissing({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const back = { title: t.back, go: () => navigate(linkTo('agents')), isAlways: true }
  if (!error)
    return (
      <main className="room" aria-label={t.title}>
        <AgentHead title={t.title} back={back} />
        <Skeleton rows={9} label={t.loadingAgent} />
      </main>
    )
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={back} />
      <Blank icon="warn" title={t.notOpened}>
        <LoadProblem error={error} words={missingWords} />
        <button type="button" className="button small" onClick={onRetry}>
          {t.retry}
        </button>
      </Blank>
    </main>
  )
}
