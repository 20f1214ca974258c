import { lazy } from 'react'
import { mediaIn } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import { fullTimeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { problemText } from '../kit/problem.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { useIsStarred } from '../stars/use-stars.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './messages.module.css'

const VerdictCard = lazy(async () => ({ default: (await import('./verdict-card.tsx')).VerdictCard }))

/** The state of a message: sending, queued, refused, failed, edited or starred. */
export function MessageState({ message, clear }: { message: LocalMessage; clear: string }) {
  const { live, rewrite } = useOpenRoom()
  const isStarred = useIsStarred(message.id)
  switch (message.local) {
    case 'sending':
      return <p className={styles.state}>{t.state.sending}</p>
    case 'queued':
      return (
        <p className={styles.state}>
          <Icon name="clock" />
          {t.state.queued}
        </p>
      )
    case 'refused':
      return (
        <LazyBoundary waiting={<p className={`${styles.state} grave`}>{t.verdict.title}</p>}>
          <VerdictCard message={message} clear={clear} />
        </LazyBoundary>
      )
    case 'failed':
      return (
        <p className={`${styles.state} grave`}>
          <Icon name="warn" />
          {message.refusal ? t.state.failedBecause({ reason: problemText(message.refusal) }) : t.state.failed}
          {message.refusal?.code !== 'VALIDATION_ERROR' && (
            <button type="button" className="button small" onClick={() => live.retry(message.client_msg_id)}>
              {t.state.retry}
            </button>
          )}
          {!mediaIn(clear, message.message_type) && (
            <button type="button" className="button small" onClick={() => rewrite(message, clear)}>
              {t.state.edit}
            </button>
          )}
          <button type="button" className="button small plain" onClick={() => live.discard(message.client_msg_id)}>
            {t.state.discard}
          </button>
        </p>
      )
    case 'sent':
      return message.is_deleted ? null : (
        <>
          {message.is_edited && (
            <p className={styles.state} title={message.edited_at ? fullTimeOf(message.edited_at) : ''}>
              {t.state.edited}
            </p>
          )}
          {isStarred && (
            <p className={styles.state}>
              <Icon name="star" />
              {t.state.starred}
            </p>
          )}
        </>
      )
  }
}
