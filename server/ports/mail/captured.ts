import type { Letter, Mail } from './port.ts'

/** Hands letters to whoever shows them, instead of sending them. */
export const capturedMail = (keep: (letter: Letter) => void): Mail => ({
  shownAt: '/dev/mail',
  async send(letter) {
    keep(letter)
  },
  async close() {},
})
