import { AgentPicture } from '../agents/agent-picture.tsx'
import styles from '../agents/agents.module.css'
import { isolated } from '../kit/format.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import type { PublicAgent } from './public-agent.ts'

/** What is shown before the first question. */
export function Begin({ agent, onAsk }: { agent: PublicAgent; onAsk: (question: string) => void }) {
  const {
    name,
    personality,
    greeting,
    avatar_emoji: emoji,
    avatar_url: picture,
    suggested_questions: questions,
  } = agent
  return (
    <div className={styles.agentBegin}>
      <AgentPicture emoji={emoji} picture={picture} size="large" />
      <h2>{isolated(name)}</h2>
      <p dir="auto">{greeting || personality || t.begin}</p>
      {questions && questions.length > 0 && (
        <ul aria-label={t.suggestions}>
          {questions.map((question) => (
            <li key={question}>
              <button type="button" className="button small" onClick={() => onAsk(question)}>
                {isolated(question)}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
