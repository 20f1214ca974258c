import { memo } from 'react'
import type { Writing } from '#client/sdk/types'
import { accountOfAgent } from '#shared/kit/room-agents'
import { fromBlocked, useBlocked } from '../accounts/use-blocked.ts'
import { AgentFace } from '../agents/agent-face.tsx'
import { isolated } from '../kit/format.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { MessageText } from './message-text.tsx'
import styles from './messages.module.css'
import { ReplyQuote } from './reply-quote.tsx'

/** What agents write now, below the messages and as they will look. Screen readers are told the message, once it stands. */
export function WritingRows({ writing }: { writing: readonly Writing[] }) {
  const blocked = useBlocked()
  return (
    <div className="writing">
      {writing.length > 0 && (
        <ol aria-label={t.writing.list}>
          {writing.map((one) => (
            <WritingRow key={one.runId} writing={one} isHidden={blocked.has(accountOfAgent(one.agent.id))} />
          ))}
        </ol>
      )}
    </div>
  )
}

const WritingRow = memo(function WritingRow({ writing, isHidden }: { writing: Writing; isHidden: boolean }) {
  const { live, account } = useOpenRoom()
  const { agent, replyTo, from, text } = writing
  const asked = live.state.messages.find(({ id }) => id === replyTo)
  return (
    <li className={`${styles.message} first ${styles.beingWritten}`}>
      <AgentFace emoji={agent.avatar_emoji} />
      <div className="bubble">
        <p className={styles.byline}>
          <span className={styles.who}>{isolated(agent.name)}</span>
          <span className="chip role">{t.writing.agent}</span>
          <span className={styles.writes}>{t.writing.now}</span>
        </p>
        {asked && <ReplyQuote quoted={asked} id={asked.id} />}
        {isHidden ? (
          <p className={styles.tombstone}>{fromBlocked}</p>
        ) : (
          <MessageText text={`${from > 0 ? '… ' : ''}${text}`} mentions={nobody} account={account} />
        )}
      </div>
    </li>
  )
})

const nobody: readonly never[] = []
