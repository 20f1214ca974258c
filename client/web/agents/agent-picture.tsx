import { useState } from 'react'
import { AgentFace } from './agent-face.tsx'
import styles from './agents.module.css'

/** The picture of an agent; its emoji where it has none, or none that this page loads. */
export function AgentPicture(props: { emoji: string; picture: string | null; size?: 'small' | 'large' }) {
  const { picture, ...face } = props
  const [failed, setFailed] = useState<string | null>(null)
  if (picture === null || picture === failed) return <AgentFace {...face} />
  return (
    <span className={`${styles.agentFace} ${styles.agentPicture} ${face.size ?? ''}`} aria-hidden="true">
      <img src={picture} alt="" referrerPolicy="no-referrer" onError={() => setFailed(picture)} />
    </span>
  )
}
