import { linkTo } from '#shared/kit/pages'
import '../kit/frame.css'
import { type ReactNode, useEffect } from 'react'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import agentPageStyles from '../agent-page/agent-page.module.css'
import agentsStyles from '../agents/agents.module.css'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import styles from './frame.module.css'

/** A page about calls, at an address that can be given to anybody. */
export function BookingFrame(props: { title: string; face?: ReactNode; facts?: string; children: ReactNode }) {
  const { title, face, facts, children } = props
  useKeptFocus()
  useEffect(() => {
    document.title = `${title} · Plaza`
  }, [title])
  return (
    <main
      className={`room ${agentsStyles.agentRoom} ${agentsStyles.agentPage} ${styles.bookingPage}`}
      aria-label={title}
    >
      <header className="room-head agent-head">
        {face}
        <div className="grow">
          <h1 tabIndex={-1}>{isolated(title)}</h1>
          {facts && <p className="room-facts">{facts}</p>}
        </div>
        <ThemeButton />
        <a className={agentPageStyles.agentPageHome} href={linkTo('home')} aria-label="Plaza" title="Plaza">
          <Wordmark />
        </a>
      </header>
      <div className={styles.bookingBody}>{children}</div>
    </main>
  )
}
