import { maySendTo } from '#server/domains/people/identity/devices'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import type { Context, Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { contact as contract } from '#shared/api/people/contact'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { done } from '#shared/kit/primitives'
import { contactSettings } from './settings.ts'

/** The mailbox of inquiries; null if there is none. */
export const mailboxOf = (node: Node): string | null =>
  node.services.mail === null ? null : contactSettings.of(node).address

const hourSeconds = 3_600
const inquiriesOfAddress = 10

export const contact = defineDomain(
  contract,
  {
    async write(inquiry, context) {
      const { node, caller } = context
      const to = mailboxOf(node)
      if (to === null)
        throw new AppError('SERVICE_UNAVAILABLE', {
          message: 'Nobody can be written to here: CONTACT_EMAIL or MAIL_URL is not set',
        })
      if (!(await node.limits.guard('inquiries-by', caller.ip, inquiriesOfAddress, hourSeconds)))
        throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
      await sendEmail(node, { to, subject: 'An inquiry at Plaza', text: inquiryText(inquiry, context) })
      await acknowledge(context, inquiry.email)
      return { ...done, message: 'Thank you. We answer by e-mail.' }
    },
  },
  { settings: contactSettings },
)

/** The sender's text follows the server's facts, so that it cannot imitate them. */
function inquiryText(
  { name, email, inquiry, source }: InputOf<typeof contract.write>,
  { node, caller }: Context,
): string {
  const known = [
    `Received by ${node.settings.publicUrl} at ${new Date(node.now()).toISOString()}`,
    `From the account: ${caller.account ?? 'nobody who is signed in'}`,
    'What follows was written by them, and is not checked.',
  ]
  const written = [`Name: ${name}`, `E-mail: ${email}`, ...(source ? [`Page: ${source}`] : []), '', inquiry]
  return `${[...known, '', ...written].join('\n')}\n`
}

const acknowledgement = {
  subject: 'We have your message',
  text: 'We have your message, and answer you at this address.\n\nIf you did not write to us, you need not do anything.\n',
}

/**
 * It contains nothing of the inquiry, so that it cannot send texts to others. It is left out if the address got too
 * many emails.
 */
async function acknowledge(context: Context, to: string): Promise<void> {
  if (await maySendTo(context, to)) await sendEmail(context.node, { to, ...acknowledgement })
}
