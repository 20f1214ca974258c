import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { zoneOf } from '#server/domains/meetings/scheduling/open-time'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import type { Context, Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import type { EmailedTo } from '#shared/api/meetings/booking'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { cancelledPaymentOf, nameOfAccount } from './render.ts'

/** An appointment for calendars in an email (RFC 5545, RFC 5546). */
export interface Appointment {
  method: 'REQUEST' | 'CANCEL'
  /** The same in every email about it. */
  uid: string
  start: Date
  end: Date
  /** When this was written. */
  stamp: Date
  summary: string
  description: string
  url: string
  organizer: Person
  attendee: Person
}

interface Person {
  name: string
  address: string
}

const octetsOfLine = 75

/** The text of an appointment, with a reminder 15 minutes before. Given texts cannot leave their lines. */
export function appointmentText(given: Appointment): string {
  const { method, uid, start, end, stamp, summary, description, url, organizer, attendee } = given
  const isOn = method === 'REQUEST'
  const reminder = ['BEGIN:VALARM', 'ACTION:DISPLAY', `DESCRIPTION:${escaped(summary)}`, 'TRIGGER:-PT15M', 'END:VALARM']
  const lines = [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Plaza//Scheduling//EN', `METHOD:${method}`, 'BEGIN:VEVENT'],
    ...[`UID:${escaped(uid)}`, `DTSTAMP:${utc(stamp)}`, `DTSTART:${utc(start)}`, `DTEND:${utc(end)}`],
    ...[`SEQUENCE:${isOn ? 0 : 1}`, `STATUS:${isOn ? 'CONFIRMED' : 'CANCELLED'}`],
    ...[`SUMMARY:${escaped(summary)}`, `DESCRIPTION:${escaped(description)}`, `URL:${url}`],
    `ORGANIZER${named(organizer)}`,
    `ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=FALSE${named(attendee)}`,
    ...(isOn ? reminder : []),
    ...['END:VEVENT', 'END:VCALENDAR'],
  ]
  return lines.map((line) => `${folded(line)}\r\n`).join('')
}

/** `20261124T090000Z` */
const utc = (at: Date): string => at.toISOString().replace(/[-:]|\.\d+/g, '')

/** Escapes special characters, and drops other control characters. */
const escaped = (text: string): string =>
  text
    .replace(/[\\;,]/g, (character) => `\\${character}`)
    .replace(/\r\n|\r|\n/g, '\\n')
    .replace(/\p{Cc}/gu, '')

const named = ({ name, address }: Person): string =>
  `;CN="${name.replace(/["\p{Cc}]/gu, '')}":mailto:${encodeURI(address)}`

/** Folds a line at 75 octets between characters. */
function folded(line: string): string {
  const lines = ['']
  let octets = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (octets + size > octetsOfLine) {
      lines.push(' ')
      octets = 1
    }
    lines[lines.length - 1] += character
    octets += size
  }
  return lines.join('\r\n')
}

/** The subject of an email, and its requester: an account, or the address of a stranger. */
interface EmailSubject {
  method: Appointment['method']
  by: string
  /** Whether repeats are suppressed. */
  isOnce?: boolean
}
const daySeconds = 86_400
const hourSeconds = 3_600
const callsInDigest = 100
/** Invitations of an account in a day; emails to one address in an hour, by one requester and by all. */
const most = { invitations: 30, asker: 3, address: 9 }
type Addresses = Record<EmailedTo['type'], string | null>

/** The known email addresses: the guest's as given, the host's from their account. */
async function addressesOf(call: StoredBooking): Promise<Addresses> {
  const host = await accountOf(call.recipient_wallet_address)
  return { guest: call.guest_email, host: host?.email ?? null }
}

/** Emails both parties once. If the host's limit is reached, the call goes into a digest; an email removes it from there. */
export async function emailParties(node: Node, call: StoredBooking, about: EmailSubject): Promise<void> {
  if (!node.services.mail) return
  const addresses = await addressesOf(call)
  const sent = await sendEmails(node, call, addresses, { ...about, isOnce: true })
  const isHostEmailed = sent.some(({ type }) => type === 'host')
  if (addresses.host !== null && !isHostEmailed) await addToDigest(node, call)
  if (isHostEmailed && call.write_at) await Bookings.updateOne({ _id: call._id }, { $unset: { write_at: '' } })
  if (about.method === 'REQUEST' && sent.some(({ type }) => type === 'guest')) await markInvitationSent(node, call)
}

/** Emails the payer once that the call is not booked, as the payment's outcome stayed unknown. */
export async function emailUnbooked(node: Node, call: StoredBooking): Promise<void> {
  const { guest_email, scheduler_wallet_address: payer, recipient_wallet_address, payment_usable_until: until } = call
  const email = guest_email ?? (payer === null ? null : ((await accountOf(payer))?.email ?? null))
  if (!node.services.mail || !email || !until || !(await mayEmail(node, email, call.booker))) return
  const host = await nameOfAccount(node, recipient_wallet_address)
  const isOver = until.getTime() <= node.now()
  const lines = [
    `Call with ${host} is not booked: whether its payment was carried out could not be found out in time.`,
    `${await timeFor(call, 'guest')}\n${call.duration_minutes} minutes`,
    isOver
      ? 'The payment can be used by nobody any more: what was not charged by now never will be.'
      : `It is not asked for any more, but may be charged all the same until ${clockIn(call.timezone, until)}.`,
    `Do not pay again before you have looked in your wallet. Where it was charged, it is good for another time of ${host}: book that with the same payment, on the page in the same browser.`,
    'If you did not ask for this, you need not do anything.',
  ]
  const message = { to: email, subject: 'A call is not booked', text: `${lines.join('\n\n')}\n` }
  await sendEmail(node, message, hashOf([call._id, 'UNBOOKED', email]))
}

/** The requester of an email. */
export const requesterOf = ({ caller: { account, ip } }: Context): string => account ?? ip

/** Sends the invitation of a call. Throws RATE_LIMIT_EXCEEDED after too many emails to these addresses or by the host. */
export async function sendInvitation(context: Context, call: StoredBooking, given: Addresses): Promise<EmailedTo[]> {
  const { node } = context
  if (!node.services.mail) throw new AppError('SERVICE_UNAVAILABLE', { message: 'E-mail is not configured here' })
  const known = await addressesOf(call)
  const addresses = { guest: given.guest ?? known.guest, host: given.host ?? known.host }
  if (addresses.guest === null && addresses.host === null)
    throw new AppError('VALIDATION_ERROR', { message: 'There is no address to write to' })
  if (!(await node.limits.guard('call-invitations-by', call.recipient_wallet_address, most.invitations, daySeconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: daySeconds })
  const sent = await sendEmails(node, call, addresses, { method: 'REQUEST', by: requesterOf(context) })
  if (sent.length === 0) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  await markInvitationSent(node, call)
  return sent
}

/** Adds a call to the host's digest, which is sent within an hour. */
async function addToDigest(node: Node, call: StoredBooking): Promise<void> {
  const write_at = new Date(node.now() + hourSeconds * 1_000)
  await scheduleDigest(node, { ...call, write_at })
  await Bookings.updateOne({ _id: call._id }, { $set: { write_at } })
}

const scheduleDigest = (node: Node, { recipient_wallet_address: host, write_at }: StoredBooking) =>
  node.jobs.add(digestEmail, { host }, `booking.gathered ${host} ${write_at?.getTime()}`, write_at?.getTime())

/** Older versions stored no job for a digest. */
export async function scheduleOlderDigests(node: Node): Promise<void> {
  for (const call of await Bookings.find({ write_at: { $exists: true } }).lean<StoredBooking[]>())
    await scheduleDigest(node, call)
}

/** Sends a host one email about all gathered calls, an hour after the first. */
export const digestEmail = job({
  kind: 'booking.gathered',
  payload: z.object({ host: z.string() }),
  async run({ host }, { node }) {
    const ofHost = { recipient_wallet_address: host }
    if (!(await Bookings.exists({ ...ofHost, write_at: { $lte: new Date(node.now()) } }))) return
    const calls = await Bookings.find({ ...ofHost, write_at: { $exists: true } })
      .sort({ scheduled_at: 1 })
      .limit(callsInDigest)
      .lean<StoredBooking[]>()
    const to = (await accountOf(host))?.email
    if (to) {
      const texts = await Promise.all(calls.map((call) => digestTextOf(node, call)))
      const email = { to, subject: 'Bookings were booked or cancelled', text: `${texts.join('\n\n')}\n` }
      await sendEmail(node, email, hashOf(calls.map(({ _id, status, write_at }) => [_id, status, write_at])))
    }
    // A call that changed since stays for the next digest.
    const seen = new Date(Math.max(...calls.map(({ write_at }) => write_at?.getTime() ?? 0)))
    const written = { _id: { $in: calls.map(({ _id }) => _id) }, write_at: { $lte: seen } }
    await Bookings.updateMany(written, { $unset: { write_at: '' } })
  },
})

async function digestTextOf(node: Node, call: StoredBooking): Promise<string> {
  const isOn = call.status !== 'cancelled'
  const head = [`${summaryOf(call)} is ${isOn ? 'booked' : 'cancelled'}:`, await timeFor(call, 'host')]
  const tail = isOn ? [node.settings.publicUrl + linkTo('call', { token: call.invite_token })] : paymentLines(call)
  return [...head, `${call.duration_minutes} minutes`, ...tail].join('\n')
}

const markInvitationSent = (node: Node, { _id }: StoredBooking) =>
  Bookings.updateOne({ _id }, { $set: { invite_sent_at: new Date(node.now()) } })

async function sendEmails(
  node: Node,
  call: StoredBooking,
  addresses: Addresses,
  { method, by, isOnce = false }: EmailSubject,
): Promise<EmailedTo[]> {
  const sent: EmailedTo[] = []
  const own = (await addressesOf(call)).host
  for (const type of ['guest', 'host'] as const) {
    const email = addresses[type]
    if (email === null || !(await mayEmail(node, email, by))) continue
    const rendered = await emailFor(node, email, call, { method, type, isToHost: type === 'host' && email === own })
    await sendEmail(node, { to: email, ...rendered }, isOnce ? hashOf([call._id, method, email]) : undefined)
    sent.push({ email, type })
  }
  return sent
}

const hashOf = (what: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(what)).digest('base64url')

/** Emails about calls have a limit of their own, so that bookings never block a sign-in code. */
const mayEmail = async ({ limits }: Node, email: string, by: string): Promise<boolean> =>
  (await limits.guard('call-letters-by', `${email} ${by}`, most.asker, hourSeconds)) &&
  (await limits.guard('call-letters-to', email, most.address, hourSeconds))

/** Renders an email. Texts of the booker go to the host's own address alone, as anybody can type another one. */
async function emailFor(
  node: Node,
  email: string,
  call: StoredBooking,
  { method, type, isToHost }: { method: EmailSubject['method']; type: EmailedTo['type']; isToHost: boolean },
) {
  const { publicUrl } = node.settings
  const host = await nameOfAccount(node, call.recipient_wallet_address)
  const summary = isToHost ? summaryOf(call) : `Call with ${host}`
  const link = publicUrl + linkTo('call', { token: call.invite_token })
  const ownTexts = isToHost ? linesOfBooker(call) : []
  const lines = [
    method === 'REQUEST' ? `${summary} is booked:` : `${summary} is cancelled:`,
    `${await timeFor(call, type)}\n${call.duration_minutes} minutes`,
    ...ownTexts,
    ...(method === 'REQUEST' ? [link] : paymentLines(call)),
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

/** The fate of the payment of a cancelled call, in words. */
function paymentLines(call: StoredBooking): string[] {
  const payment = cancelledPaymentOf(call)
  return payment === null ? [] : [paymentTexts[payment]]
}

const paymentTexts = {
  kept: 'What was paid for it stays with the host: that is between the two of you.',
  withdrawn: 'Nothing was charged for it, and nothing will be.',
  unknown: 'Whether it was charged is not known yet. It is not asked for any more.',
}

/** Whether the host made the call, to share its link. */
const isShareable = (call: StoredBooking): boolean =>
  isSameAccount(call.scheduler_wallet_address, call.recipient_wallet_address)

/** The title of a call for its host. */
function summaryOf(call: StoredBooking): string {
  const who = isShareable(call) ? null : (call.scheduler_name ?? call.guest_name)
  return who === null ? call.title : `Call with ${who}`
}

const linesOfBooker = ({
  title,
  guest_name,
  scheduler_name,
  guest_email,
  notes,
  cancel_reason,
}: StoredBooking): string[] => [
  [title, scheduler_name ?? guest_name, guest_email].filter((one) => one !== null).join('\n'),
  ...(notes === null ? [] : [notes]),
  ...(cancel_reason ? [`Reason: ${cancel_reason}`] : []),
]

/** The time in the reader's zone, and in brackets in the other's. A shared call has the host's zone. */
async function timeFor(call: StoredBooking, reader: EmailedTo['type']): Promise<string> {
  const { scheduled_at, timezone: ofGuest } = call
  const ofHost = isShareable(call) ? ofGuest : await zoneOf(call.recipient_wallet_address)
  const [own, other] = reader === 'guest' ? [ofGuest, ofHost] : [ofHost, ofGuest]
  const time = clockIn(own, scheduled_at)
  return own === other ? time : `${time}\n[${clockIn(other, scheduled_at)}]`
}

const clockIn = (timeZone: string, at: Date): string =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(at)} (${timeZone})`
