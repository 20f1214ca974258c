export interface Text {
  /** The same when a text is sent a second time. */
  id: string
  /** E.164. */
  to: string
  text: string
}

/** Sends short texts to phones. What it cannot send it throws back. */
export interface Sms {
  /** Where people read what was not sent, on the site itself; absent where texts are sent. */
  readonly shownAt?: string
  send(text: Text): Promise<void>
  close(): Promise<void>
}
