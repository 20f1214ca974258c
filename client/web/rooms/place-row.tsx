import type { ReactNode } from 'react'
import { Icon, type IconName } from '../kit/icon.tsx'
import styles from './rooms.module.css'

/** One line above the rooms: where it leads, what is there now, and how much of it waits. */
export function PlaceRow(props: {
  icon: IconName
  title: string
  href: string
  isOpen?: boolean
  /** In the same line, as far as it fits. */
  detail?: ReactNode
  badge?: ReactNode
}) {
  return (
    <li>
      <a
        className={`${styles.roomRow} ${styles.placeRow}`}
        href={props.href}
        aria-current={props.isOpen ? 'page' : undefined}
      >
        <span className={styles.roomMark}>
          <Icon name={props.icon} />
        </span>
        <span className={styles.roomName}>{props.title}</span>
        <small className={`${styles.roomLast} grow`}>{props.detail}</small>
        {props.badge}
      </a>
    </li>
  )
}
