import styles from '../agents/agents.module.css'
import { Icon } from '../kit/icon.tsx'
import { agentChatTexts as t } from '../texts/agent-chat.ts'

/** What is only played on this server. */
export function Notice({ isScripted, isSimulated = false }: { isScripted: boolean; isSimulated?: boolean }) {
  if (!isScripted && !isSimulated) return null
  return (
    <p className={styles.agentNotice} role="note">
      <Icon name="warn" />
      <span>
        {isScripted && `${t.scripted} `}
        {isSimulated && t.simulated}
      </span>
    </p>
  )
}
