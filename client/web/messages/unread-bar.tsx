import { useRef } from 'react'
import { dayOf, plural, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import styles from './unread-bar.module.css'

/** What is unread above what is seen: how much, since when, and the way there. */
export function UnreadBar(props: { count: number; since: string; onJump: () => void; onRead: () => void }) {
  const day = dayOf(props.since)
  const since =
    day === 'Today' ? timeOf(props.since) : `${day === 'Yesterday' ? 'yesterday' : day}, ${timeOf(props.since)}`
  const isAsked = useRef(false)
  const jump = () => {
    if (isAsked.current) return
    isAsked.current = true
    props.onJump()
  }
  return (
    <section className={styles.unreadBar} aria-label="Unread messages">
      <button
        type="button"
        className={`${styles.unreadAct} grow`}
        title={`${plural(props.count, 'message')} unread`}
        onClick={jump}
      >
        <Icon name="down" />
        <span className="numerals">
          {props.count.toLocaleString()} new since {since}
        </span>
        <strong>Jump</strong>
      </button>
      <button type="button" className={styles.unreadAct} onClick={props.onRead}>
        Mark as read
      </button>
    </section>
  )
}
