import type { ServerStatus } from './session.ts'

/** Where letters can be read that this server does not send. */
export function Mailbox({ status }: { status: ServerStatus | null }) {
  if (!status?.mailbox) return null
  return (
    <p className="demo-note">
      This server sends no letters: read them in its{' '}
      <a href={status.mailbox} target="_blank" rel="noreferrer">
        mailbox
      </a>
      .
    </p>
  )
}
