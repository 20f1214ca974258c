import type { Sms, TextMessage } from './port.ts'

/** Captures text messages for display instead of sending them. */
export const capturedSms = (keep: (text: TextMessage) => void): Sms => ({
  shownAt: '/dev/mail',
  async send(text) {
    keep(text)
  },
  async close() {},
})
