import '../styles/home.css'
import '../styles/agents.css'
import '../styles/agent-page.css'
import '../styles/booking.css'
import { type ReactNode, useEffect } from 'react'
import { ThemeButton } from '../accounts/theme-button.tsx'
import { Wordmark } from '../accounts/wordmark.tsx'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'

/** A page about calls, at an address that can be given to anybody. */
export function BookingFrame(props: { title: string; face?: ReactNode; facts?: string; children: ReactNode }) {
  const { title, face, facts, children } = props
  useKeptFocus()
  useEffect(() => {
    document.title = `${title} · Plaza`
  }, [title])
  return (
    <main className="room agent-room agent-page booking-page" aria-label={title}>
      <header className="room-head agent-head">
        {face}
        <div className="grow">
          <h1 tabIndex={-1}>{isolated(title)}</h1>
          {facts && <p className="room-facts">{facts}</p>}
        </div>
        <ThemeButton />
        <a className="agent-page-home" href="/" aria-label="Plaza" title="Plaza">
          <Wordmark />
        </a>
      </header>
      <div className="booking-body">{children}</div>
    </main>
  )
}
