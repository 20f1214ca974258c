import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { zoneOf } from '#server/domains/meetings/scheduling/windows'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { postLetter } from '#server/domains/platform/outgoing/index'
import type { Context, Node } from '#server/kernel/context'
import { job } from '#server/kernel/jobs'
import type { EmailedTo } from '#shared/api/booking'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { type Appointment, appointmentText } from './appointment.ts'
import { nameOfAccount, paymentAfter } from './shown.ts'

/** What a letter says of a call, and at whose request it is written: an account, or the address of a stranger. */
interface About {
  method: Appointment['method']
  by: string
  /** Whether nobody is written this a second time. */
  isOnce?: boolean
}
const daySeconds = 86_400
const hourSeconds = 3_600
const callsInLetter = 100
/** Invitations that one account sends in a day; and letters about calls to one address in an hour, at the request of one and of all together. */
const most = { invitations: 30, asker: 3, address: 9 }
type Addresses = Record<EmailedTo['type'], string | null>

/** Where letters about a call go, as far as that is known: to who booked it at the address that they gave, to the host at their own. */
async function addressesOf(call: StoredBooking): Promise<Addresses> {
  const host = await accountOf(call.recipient_wallet_address)
  return { guest: call.guest_email, host: host?.email ?? null }
}

/**
 * Writes to both, once, about a call that was booked or cancelled, as far as letters can be sent; what is too much for its host is gathered,
 * and what was gathered of it before is not written to who is written now.
 */
export async function tellByLetter(node: Node, call: StoredBooking, about: About): Promise<void> {
  if (!node.services.mail) return
  const addresses = await addressesOf(call)
  const sent = await writeTo(node, call, addresses, { ...about, isOnce: true })
  const isHostWritten = sent.some(({ type }) => type === 'host')
  if (addresses.host !== null && !isHostWritten) await gather(node, call)
  if (isHostWritten && call.write_at) await Bookings.updateOne({ _id: call._id }, { $unset: { write_at: '' } })
  if (about.method === 'REQUEST' && sent.some(({ type }) => type === 'guest')) await noteSent(node, call)
}

/** Writes to who paid for a call, once, that it is not booked, as nobody could tell in time whether the payment was carried out. */
export async function tellUnbooked(node: Node, call: StoredBooking): Promise<void> {
  const { guest_email, scheduler_wallet_address: payer, recipient_wallet_address, payment_usable_until: until } = call
  const email = guest_email ?? (payer === null ? null : ((await accountOf(payer))?.email ?? null))
  if (!node.services.mail || !email || !until || !(await mayWriteTo(node, email, call.booker))) return
  const host = await nameOfAccount(node, recipient_wallet_address)
  const isOver = until.getTime() <= node.now()
  const lines = [
    `Call with ${host} is not booked: whether its payment was carried out could not be found out in time.`,
    `${await timeIn(call, 'guest')}\n${call.duration_minutes} minutes`,
    isOver
      ? 'The payment can be used by nobody any more: what was not charged by now never will be.'
      : `It is not asked for any more, but may be charged all the same until ${clockIn(call.timezone, until)}.`,
    `Do not pay again before you have looked in your wallet. Where it was charged, it is good for another time of ${host}: book that with the same payment, on the page in the same browser.`,
    'If you did not ask for this, you need not do anything.',
  ]
  const letter = { to: email, subject: 'A call is not booked', text: `${lines.join('\n\n')}\n` }
  await postLetter(node, letter, hashOf([call._id, 'UNBOOKED', email]))
}

/** Who asks for a letter. */
export const askerOf = ({ caller: { account, ip } }: Context): string => account ?? ip

/** Sends the invitation of a call. RATE_LIMIT_EXCEEDED where too many letters went to these addresses, or came from its host. */
export async function sendInvitation(context: Context, call: StoredBooking, given: Addresses): Promise<EmailedTo[]> {
  const { node } = context
  if (!node.services.mail) throw new AppError('SERVICE_UNAVAILABLE', { message: 'E-mail is not configured here' })
  const known = await addressesOf(call)
  const addresses = { guest: given.guest ?? known.guest, host: given.host ?? known.host }
  if (addresses.guest === null && addresses.host === null)
    throw new AppError('VALIDATION_ERROR', { message: 'There is no address to write to' })
  if (!(await node.limits.guard('call-invitations-by', call.recipient_wallet_address, most.invitations, daySeconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: daySeconds })
  const sent = await writeTo(node, call, addresses, { method: 'REQUEST', by: askerOf(context) })
  if (sent.length === 0) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  await noteSent(node, call)
  return sent
}

/** Gathers a call for the next letter to its host, which is sent within an hour. */
async function gather(node: Node, call: StoredBooking): Promise<void> {
  const write_at = new Date(node.now() + hourSeconds * 1_000)
  await sendLater(node, { ...call, write_at })
  await Bookings.updateOne({ _id: call._id }, { $set: { write_at } })
}

const sendLater = (node: Node, { recipient_wallet_address: host, write_at }: StoredBooking) =>
  node.jobs.add(gatheredLetter, { host }, `booking.gathered ${host} ${write_at?.getTime()}`, write_at?.getTime())

/** Older versions stored no job for a gathered call. */
export async function gatherOlderCalls(node: Node): Promise<void> {
  for (const call of await Bookings.find({ write_at: { $exists: true } }).lean<StoredBooking[]>())
    await sendLater(node, call)
}

/** Sends a host one letter about all calls that were gathered, an hour after the first. */
export const gatheredLetter = job({
  kind: 'booking.gathered',
  payload: z.object({ host: z.string() }),
  async run({ host }, { node }) {
    const ofHost = { recipient_wallet_address: host }
    if (!(await Bookings.exists({ ...ofHost, write_at: { $lte: new Date(node.now()) } }))) return
    const calls = await Bookings.find({ ...ofHost, write_at: { $exists: true } })
      .sort({ scheduled_at: 1 })
      .limit(callsInLetter)
      .lean<StoredBooking[]>()
    const to = (await accountOf(host))?.email
    if (to) {
      const said = await Promise.all(calls.map((call) => gatheredText(node, call)))
      const letter = { to, subject: 'Bookings were booked or cancelled', text: `${said.join('\n\n')}\n` }
      await postLetter(node, letter, hashOf(calls.map(({ _id, status, write_at }) => [_id, status, write_at])))
    }
    // A call that has changed since is written of again.
    const seen = new Date(Math.max(...calls.map(({ write_at }) => write_at?.getTime() ?? 0)))
    const written = { _id: { $in: calls.map(({ _id }) => _id) }, write_at: { $lte: seen } }
    await Bookings.updateMany(written, { $unset: { write_at: '' } })
  },
})

async function gatheredText(node: Node, call: StoredBooking): Promise<string> {
  const isOn = call.status !== 'cancelled'
  const head = [`${summaryOf(call)} is ${isOn ? 'booked' : 'cancelled'}:`, await timeIn(call, 'host')]
  const tail = isOn ? [node.settings.publicUrl + linkTo('call', { token: call.invite_token })] : saidOfPayment(call)
  return [...head, `${call.duration_minutes} minutes`, ...tail].join('\n')
}

const noteSent = (node: Node, { _id }: StoredBooking) =>
  Bookings.updateOne({ _id }, { $set: { invite_sent_at: new Date(node.now()) } })

async function writeTo(
  node: Node,
  call: StoredBooking,
  addresses: Addresses,
  { method, by, isOnce = false }: About,
): Promise<EmailedTo[]> {
  const sent: EmailedTo[] = []
  const own = (await addressesOf(call)).host
  for (const type of ['guest', 'host'] as const) {
    const email = addresses[type]
    if (email === null || !(await mayWriteTo(node, email, by))) continue
    const letter = await letterTo(node, email, call, { method, type, isToHost: type === 'host' && email === own })
    await postLetter(node, { to: email, ...letter }, isOnce ? hashOf([call._id, method, email]) : undefined)
    sent.push({ email, type })
  }
  return sent
}

const hashOf = (what: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(what)).digest('base64url')

/** Letters about calls have a count of their own: no booking keeps anybody's code for signing in from them. */
const mayWriteTo = async ({ limits }: Node, email: string, by: string): Promise<boolean> =>
  (await limits.guard('call-letters-by', `${email} ${by}`, most.asker, hourSeconds)) &&
  (await limits.guard('call-letters-to', email, most.address, hourSeconds))

/**
 * What somebody is written. Whoever can type an address can have a letter sent there, so that what was said of a call by those who booked
 * or made it is for the host at their own address alone; every other letter says none of it.
 */
async function letterTo(
  node: Node,
  email: string,
  call: StoredBooking,
  { method, type, isToHost }: { method: About['method']; type: EmailedTo['type']; isToHost: boolean },
) {
  const { publicUrl } = node.settings
  const host = await nameOfAccount(node, call.recipient_wallet_address)
  const summary = isToHost ? summaryOf(call) : `Call with ${host}`
  const link = publicUrl + linkTo('call', { token: call.invite_token })
  const words = isToHost ? saidBy(call) : []
  const lines = [
    method === 'REQUEST' ? `${summary} is booked:` : `${summary} is cancelled:`,
    `${await timeIn(call, type)}\n${call.duration_minutes} minutes`,
    ...words,
    ...(method === 'REQUEST' ? [link] : saidOfPayment(call)),
    'If you did not ask for this, you need not do anything.',
  ]
  const calendar = appointmentText({
    ...{ method, uid: `${call._id}@${new URL(publicUrl).hostname}`, start: call.scheduled_at, end: call.ends_at },
    ...{ stamp: new Date(node.now()), summary, description: link, url: link },
    organizer: { name: host, address: `no-reply@${new URL(publicUrl).hostname}` },
    attendee: { name: isToHost ? host : email, address: email },
  })
  const subject = method === 'REQUEST' ? 'A call is booked' : 'A call is cancelled'
  return { subject, text: `${lines.join('\n\n')}\n`, calendar: { method, text: calendar } }
}

/** What becomes of what was paid for a call that is cancelled, in words. */
function saidOfPayment(call: StoredBooking): string[] {
  const payment = paymentAfter(call)
  return payment === null ? [] : [paymentWords[payment]]
}

const paymentWords = {
  kept: 'What was paid for it stays with the host: that is between the two of you.',
  withdrawn: 'Nothing was charged for it, and nothing will be.',
  unknown: 'Whether it was charged is not known yet. It is not asked for any more.',
}

/** Whether its host has made the call, for whoever is given its link. */
const isShareable = (call: StoredBooking): boolean =>
  isSameAccount(call.scheduler_wallet_address, call.recipient_wallet_address)

/** What a call is called to its host. */
function summaryOf(call: StoredBooking): string {
  const who = isShareable(call) ? null : (call.scheduler_name ?? call.guest_name)
  return who === null ? call.title : `Call with ${who}`
}

const saidBy = ({ title, guest_name, scheduler_name, guest_email, notes, cancel_reason }: StoredBooking): string[] => [
  [title, scheduler_name ?? guest_name, guest_email].filter((one) => one !== null).join('\n'),
  ...(notes === null ? [] : [notes]),
  ...(cancel_reason ? [`Reason: ${cancel_reason}`] : []),
]

/** By the clock of the reader, and in brackets by that of the other. The zone of a call that its host has made is the host's. */
async function timeIn(call: StoredBooking, reader: EmailedTo['type']): Promise<string> {
  const { scheduled_at, timezone: ofGuest } = call
  const ofHost = isShareable(call) ? ofGuest : await zoneOf(call.recipient_wallet_address)
  const [own, other] = reader === 'guest' ? [ofGuest, ofHost] : [ofHost, ofGuest]
  const time = clockIn(own, scheduled_at)
  return own === other ? time : `${time}\n[${clockIn(other, scheduled_at)}]`
}

const clockIn = (timeZone: string, at: Date): string =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(at)} (${timeZone})`
