import styles from './room-preview.module.css'
/** A link to the development mailbox, which shows the emails and texts that this server does not send. */
export function Mailbox(props: { kind: 'letters' | 'texts'; shownAt: string | null | undefined }) {
  if (!props.shownAt) return null
  return (
    <p className={styles.demoNote}>
      This server sends no {props.kind}: read them in its{' '}
      <a href={props.shownAt} target="_blank" rel="noreferrer">
        mailbox
      </a>
      .
    </p>
  )
}
