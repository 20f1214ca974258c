import { maySendTo } from '#server/domains/people/identity/browsers'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import type { Context } from '#server/kernel/context'
import { AppError } from '#shared/errors'

const hourSeconds = 3_600
const emailsPerClient = 30

/** Refuses if mail is not configured, or the address or client got too many emails. */
export async function allowEmail(context: Context, email: string): Promise<void> {
  const { node, caller } = context
  if (!node.services.mail) throw new AppError('SERVICE_UNAVAILABLE', { message: 'E-mail is not configured here' })
  const allowed =
    (await node.limits.guard('letters-by', caller.ip, emailsPerClient, hourSeconds)) &&
    (await maySendTo(context, email))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

const ignoreText = 'If you did not ask for this, you need not do anything.'

export const sendCodeEmail = ({ node }: Context, to: string, code: string, effect: string) =>
  sendEmail(node, {
    to,
    subject: 'Your code for Plaza',
    text: `Your code is ${code}\n\nIt ${effect} at ${node.settings.publicUrl}\nand is good for ten minutes, once.\n\n${ignoreText}\n`,
  })

export const sendLinkEmail = ({ node }: Context, to: string, link: string) =>
  sendEmail(node, {
    to,
    subject: 'Your link to Plaza',
    text: `This link signs you in, once, within fifteen minutes:\n\n${link}\n\n${ignoreText}\n`,
  })
