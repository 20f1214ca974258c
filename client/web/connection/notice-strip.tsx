import { useSession } from '../accounts/session.ts'
import { Icon } from '../kit/icon.tsx'

/** What those who run the installation have to say to everybody. */
export function NoticeStrip() {
  const notice = useSession().status?.notice
  if (!notice) return null
  return (
    <p className="connection-strip rest" role="status">
      <Icon name="warn" />
      <bdi className="grow">{notice}</bdi>
    </p>
  )
}
