/** Sends short texts to phones. What it cannot send it throws back. */
export interface Sms {
  /** `to` in E.164. */
  send(to: string, text: string): Promise<void>
  close(): Promise<void>
}
