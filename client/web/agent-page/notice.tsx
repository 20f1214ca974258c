import styles from '../agents/agents.module.css'
import { Icon } from '../kit/icon.tsx'

/** What is only played on this server. */
export function Notice({ isScripted, isSimulated = false }: { isScripted: boolean; isSimulated?: boolean }) {
  if (!isScripted && !isSimulated) return null
  return (
    <p className={styles.agentNotice} role="note">
      <Icon name="warn" />
      <span>
        {isScripted && 'No model is set up on this server: a script answers in its place. '}
        {isSimulated && 'Payments are only simulated: they are checked, and no money moves.'}
      </span>
    </p>
  )
}
