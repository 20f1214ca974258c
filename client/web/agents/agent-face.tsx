/** The emoji of an agent; its name is always beside it. */
export function AgentFace({ emoji, size }: { emoji: string; size?: 'small' | 'large' }) {
  return (
    <span className={`agent-face ${size ?? ''}`} aria-hidden="true">
      {emoji}
    </span>
  )
}
