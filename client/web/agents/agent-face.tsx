import styles from './agents.module.css'
/** The emoji of an agent; its name is always beside it. */
export function AgentFace({ emoji, size }: { emoji: string; size?: 'small' | 'large' }) {
  return (
    <span className={`${styles.agentFace} ${size ?? ''}`} aria-hidden="true">
      {emoji}
    </span>
  )
}
