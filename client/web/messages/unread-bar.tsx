import { useRef } from 'react'
import { dayOf, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { kitTexts } from '../texts/kit.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './unread-bar.module.css'

/** What is unread above what is seen: how much, since when, and the way there. */
export function UnreadBar(props: { count: number; since: string; onJump: () => void; onRead: () => void }) {
  const { count } = props
  const day = dayOf(props.since)
  const since = timeOf(props.since)
  const isAsked = useRef(false)
  const jump = () => {
    if (isAsked.current) return
    isAsked.current = true
    props.onJump()
  }
  return (
    <section className={styles.unreadBar} aria-label={t.unread.title}>
      <button type="button" className={`${styles.unreadAct} grow`} title={t.unread.count({ count })} onClick={jump}>
        <Icon name="down" />
        <span className="numerals">
          {day === kitTexts.today
            ? t.unread.since({ count, since })
            : t.unread.sinceDay({ count, since, day: day === kitTexts.yesterday ? t.unread.yesterday : day })}
        </span>
        <strong>{t.unread.jump}</strong>
      </button>
      <button type="button" className={styles.unreadAct} onClick={props.onRead}>
        {t.unread.read}
      </button>
    </section>
  )
}
