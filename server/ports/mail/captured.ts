import type { Email, Mail } from './port.ts'

/** Captures emails for display instead of sending them. */
export const capturedMail = (keep: (email: Email) => void): Mail => ({
  shownAt: '/dev/mail',
  async send(email) {
    keep(email)
  },
  async close() {},
})
