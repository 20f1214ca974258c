import { signInTexts as t } from '../../texts/sign-in.ts'
import styles from '../welcome/room-preview.module.css'
/** A link to the development mailbox, which shows the emails and texts that this server does not send. */
export function Mailbox(props: { kind: 'letters' | 'texts'; shownAt: string | null | undefined }) {
  if (!props.shownAt) return null
  return (
    <p className={styles.demoNote}>
      {t.mailbox[props.kind]({
        mailbox: (parts) => (
          <a href={props.shownAt ?? ''} target="_blank" rel="noreferrer">
            {parts}
          </a>
        ),
      })}
    </p>
  )
}
