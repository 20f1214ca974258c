import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { job, PermanentFailure } from '#server/kernel/work/jobs'
import { Undeliverable } from '#server/ports/mail/port'
import { Mailbox } from '#shared/api/people/email'
import { AppError } from '#shared/errors'

const notConfigured = (what: string) =>
  new AppError('SERVICE_UNAVAILABLE', { message: `${what} is not configured here` })

/** Sends one email. */
export const emailJob = job({
  kind: 'mail.send',
  payload: z.object({
    to: Mailbox(),
    subject: z.string(),
    text: z.string(),
    calendar: z.object({ method: z.enum(['REQUEST', 'CANCEL']), text: z.string() }).optional(),
  }),
  async run(email, { id, node }) {
    if (!node.services.mail) throw notConfigured('Mail')
    await node.services.mail.send({ id, ...email }).catch((error: unknown) => {
      throw error instanceof Undeliverable ? new PermanentFailure(error.message, { cause: error }) : error
    })
  },
})

/** Sends one text message. */
export const textMessageJob = job({
  kind: 'sms.send',
  payload: z.object({ to: z.e164(), text: z.string() }),
  async run(text, { id, node }) {
    if (!node.services.sms) throw notConfigured('Text messages')
    await node.services.sms.send({ id, ...text })
  },
})

/** Queues an email, once per id. One that this server displays instead is there before the answer. */
export async function sendEmail(
  { jobs, services }: Node,
  email: z.input<typeof emailJob.payload>,
  id = newId(),
): Promise<void> {
  await jobs.add(emailJob, email, id)
  if (services.mail?.shownAt) await services.mail.send({ id, ...email })
}

/** Queues a text message, displayed as emails are. */
export async function sendTextMessage(
  { jobs, services }: Node,
  text: z.input<typeof textMessageJob.payload>,
): Promise<void> {
  const id = newId()
  await jobs.add(textMessageJob, text, id)
  if (services.sms?.shownAt) await services.sms.send({ id, ...text })
}
