import '../styles/agent-picture.css'
import { useState } from 'react'
import { AgentFace } from './agent-face.tsx'

/** The picture of an agent; its emoji where it has none, or none that this page loads. */
export function AgentPicture(props: { emoji: string; picture: string | null; size?: 'small' | 'large' }) {
  const { picture, ...face } = props
  const [failed, setFailed] = useState<string | null>(null)
  if (picture === null || picture === failed) return <AgentFace {...face} />
  return (
    <span className={`agent-face agent-picture ${face.size ?? ''}`} aria-hidden="true">
      <img src={picture} alt="" referrerPolicy="no-referrer" onError={() => setFailed(picture)} />
    </span>
  )
}
