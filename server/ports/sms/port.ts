export interface TextMessage {
  /** The same for a repeat. */
  id: string
  /** E.164. */
  to: string
  text: string
}

/** Sends text messages, and throws what cannot be sent. */
export interface Sms {
  /** The page of captured messages; absent if they are sent. */
  readonly shownAt?: string
  send(text: TextMessage): Promise<void>
  close(): Promise<void>
}
