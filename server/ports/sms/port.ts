export interface Text {
  /** The same when a text is sent a second time. */
  id: string
  /** E.164. */
  to: string
  text: string
}

/** Sends short texts to phones. What it cannot send it throws back. */
export interface Sms {
  send(text: Text): Promise<void>
  close(): Promise<void>
}
