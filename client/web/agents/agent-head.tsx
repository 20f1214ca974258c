import { type ReactNode, useState } from 'react'
import { BackButton } from '../kit/back-button.tsx'
import { takeLostFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { useHeading } from '../rooms/use-attention.ts'
import { AgentFace } from './agent-face.tsx'
import styles from './agents.module.css'

/** The head of a screen about one agent, or about all of them. */
export function AgentHead(props: {
  title: string
  emoji?: string
  picture?: string | null
  about?: ReactNode
  back: { title: string; go: () => void; isAlways?: boolean }
  children?: ReactNode
}) {
  const { title, emoji, picture = null, about, back, children } = props
  useHeading(title)
  return (
    <header className="room-head agent-head">
      <BackButton className={back.isAlways ? '' : 'back'} title={back.title} onPress={back.go} />
      {emoji && <AgentPicture emoji={emoji} picture={picture} />}
      <div className="grow">
        <h1 tabIndex={-1} ref={takeLostFocus}>
          {isolated(title)}
        </h1>
        {about && <p className="room-facts">{about}</p>}
      </div>
      {children}
    </header>
  )
}

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
