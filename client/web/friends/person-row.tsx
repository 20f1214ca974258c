import type { ReactNode } from 'react'
import { useOpenPerson } from '../accounts/person-of-interest.ts'
import styles from '../calls/calls.module.css'
import { Avatar } from '../kit/avatar.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { friendTexts as t } from '../texts/friends.ts'

/** Somebody in a list: their name opens their card, and what can be done stands at the end. */
export function PersonRow(props: {
  address: string
  name: string
  picture: string | null
  isOnline?: boolean
  about?: ReactNode
  children: ReactNode
}) {
  const { address, name, isOnline = false, about, children } = props
  const open = useOpenPerson()
  const picture = useStoredPicture(props.picture)
  return (
    <li className={styles.callRow}>
      <Avatar id={address} name={name} picture={picture} isOnline={isOnline} />
      <div className="grow">
        <button
          type="button"
          className={styles.personName}
          title={address}
          onClick={() => open({ id: address, name, role: null, live: null })}
        >
          {name}
        </button>
        {isOnline && <span className="unseen">, {t.online}</span>}
        {about && <small dir="auto">{about}</small>}
      </div>
      <div className="row">{children}</div>
    </li>
  )
}
