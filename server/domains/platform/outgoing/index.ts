import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { job, PermanentFailure } from '#server/kernel/jobs'
import { Undeliverable } from '#server/ports/mail/port'
import { Mailbox } from '#shared/api/email'
import { AppError } from '#shared/errors'

const notOffered = (what: string) => new AppError('SERVICE_UNAVAILABLE', { message: `${what} is not configured here` })

/** Sends one letter. */
export const sendLetter = job({
  kind: 'mail.send',
  payload: z.object({
    to: Mailbox(),
    subject: z.string(),
    text: z.string(),
    calendar: z.object({ method: z.enum(['REQUEST', 'CANCEL']), text: z.string() }).optional(),
  }),
  async run(letter, { id, node }) {
    if (!node.services.mail) throw notOffered('Mail')
    await node.services.mail.send({ id, ...letter }).catch((error: unknown) => {
      throw error instanceof Undeliverable ? new PermanentFailure(error.message, { cause: error }) : error
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

/** Has a letter sent, once for an id. One that this server shows instead is there before the answer is. */
export async function postLetter(
  { jobs, services }: Node,
  letter: z.input<typeof sendLetter.payload>,
  id = newId(),
): Promise<void> {
  await jobs.add(sendLetter, letter, id)
  if (services.mail?.shownAt) await services.mail.send({ id, ...letter })
}

/** Has a text sent, and shown as letters are. */
export async function postText({ jobs, services }: Node, text: z.input<typeof sendText.payload>): Promise<void> {
  const id = newId()
  await jobs.add(sendText, text, id)
  if (services.sms?.shownAt) await services.sms.send({ id, ...text })
}
