export interface Letter {
  /** The same when a letter is sent a second time. */
  id: string
  /** One address; never a list. */
  to: string
  subject: string
  text: string
  /** An appointment (RFC 5545) that calendars take from the letter, asked for or called off. */
  calendar?: { method: 'REQUEST' | 'CANCEL'; text: string } | undefined
}

/** Thrown where no later attempt would help: the address, or the letter, is refused for good. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable'
}

/** Sends letters. What it cannot send it throws back. */
export interface Mail {
  /** Where people read what was not sent, on the site itself; absent where letters are sent. */
  readonly shownAt?: string
  send(letter: Letter): Promise<void>
  close(): Promise<void>
}
