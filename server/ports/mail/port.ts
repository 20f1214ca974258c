export interface Email {
  /** The same for a repeat. */
  id: string
  /** One address; never a list. */
  to: string
  subject: string
  text: string
  /** An appointment (RFC 5545) for calendars: a request, or its cancellation. */
  calendar?: { method: 'REQUEST' | 'CANCEL'; text: string } | undefined
}

/** Thrown if the address or the email is refused permanently. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable'
}

/** Sends emails, and throws what cannot be sent. */
export interface Mail {
  /** The page of captured emails; absent if they are sent. */
  readonly shownAt?: string
  send(email: Email): Promise<void>
  close(): Promise<void>
}
