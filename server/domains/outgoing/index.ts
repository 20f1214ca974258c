import { z } from 'zod'
import { GiveUp, job } from '#server/kernel/jobs'
import { Undeliverable } from '#server/ports/mail/port'
import { AppError } from '#shared/errors'

const notOffered = (what: string) => new AppError('SERVICE_UNAVAILABLE', { message: `${what} is not configured here` })

/** Sends one letter. */
export const sendLetter = job({
  kind: 'mail.send',
  payload: z.object({ to: z.email(), subject: z.string(), text: z.string() }),
  async run(letter, { id, node }) {
    if (!node.services.mail) throw notOffered('Mail')
    await node.services.mail.send({ id, ...letter }).catch((error: unknown) => {
      throw error instanceof Undeliverable ? new GiveUp(error.message, { cause: error }) : error
    })
  },
})

/** Sends one text to a phone. */
export const sendText = job({
  kind: 'sms.send',
  payload: z.object({ to: z.e164(), text: z.string() }),
  async run(text, { id, node }) {
    if (!node.services.sms) throw notOffered('Text messages')
    await node.services.sms.send({ id, ...text })
  },
})
