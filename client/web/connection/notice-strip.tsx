import { useSession } from '../accounts/session.ts'
import { Icon } from '../kit/icon.tsx'
import styles from './connection.module.css'

/** What those who run the installation have to say to everybody. */
export function NoticeStrip() {
  const notice = useSession().status?.notice
  if (!notice) return null
  return (
    <p className={`${styles.connectionStrip} rest`} role="status">
      <Icon name="warn" />
      <bdi className="grow">{notice}</bdi>
    </p>
  )
}
