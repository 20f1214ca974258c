import { sidebarTexts as t } from '../texts/sidebar.ts'
import styles from './rooms.module.css'

/** How much is unread, or how often the account is mentioned in it. */
export function Badge({ unread, mentions }: { unread: number; mentions: number }) {
  return (
    <span className={`${styles.badge} ${mentions > 0 ? 'mentioned' : ''}`}>
      {mentions > 0 ? `@${mentions}` : unread > 99 ? '99+' : unread}
      <span className="unseen">{mentions > 0 ? t.badge.mentions({ count: mentions }) : t.badge.unread}</span>
    </span>
  )
}
