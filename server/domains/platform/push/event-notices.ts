import { friendsAmong } from '#server/domains/people/friends/pairs'
import { presencesOf } from '#server/domains/rooms/room-state/online'
import type { Node } from '#server/kernel/context'
import type { ScheduledCall } from '#shared/api/meetings/booking'
import { type Call, ringSeconds } from '#shared/api/meetings/calls'
import { archiveDays } from '#shared/api/platform/own-data'
import { type PushType, ringing } from '#shared/api/platform/push'
import type { GroupInvitation } from '#shared/api/rooms/group-invitations'
import { linkTo } from '#shared/kit/pages'
import { chosenName, shortened } from '#shared/kit/person-name'
import { dmOf, roomKey } from '#shared/kit/room-key'
import { subscribedAccounts } from './browsers.ts'
import { type AccountNotice, queueNotice, withdrawNotice } from './deliver.ts'
import { isNoticeWanted, type Notice } from './preferences.ts'

const hourSeconds = 3_600
/** Notices to an account of one type, and of one tag. */
const noticesAnHour = 60
const noticesOfTagAnHour = 20

/** Queues notices for accounts with a browser, no active page on any node, and matching preferences. Each browser is a job. */
export async function notifyBrowsers(node: Node, notices: ReadonlyMap<string, AccountNotice>): Promise<void> {
  const subscribed = await subscribedAccounts([...notices.keys()])
  if (subscribed.length === 0) return
  const presences = await presencesOf(node, subscribed)
  for (const account of subscribed) {
    const one = notices.get(account)
    if (!one || presences.get(account) === 'active') continue
    if (
      (await isNoticeWanted(node, account, one.notice, one.room)) &&
      (await isWithinLimits(node, account, one.notice))
    )
      await queueNotice(node, account, one)
  }
}

/** Whether the account is within its hourly limits. */
async function isWithinLimits(
  { limits }: Node,
  account: string,
  { type, tag, senderAddress }: Notice,
): Promise<boolean> {
  const isOfFriend = senderAddress !== null && (await friendsAmong(account, [senderAddress])).length > 0
  // Strangers have a limit apart from friends.
  const by = isOfFriend ? '' : ' of others'
  return (
    (await limits.guard('notices-of', `${account} ${tag}${by}`, noticesOfTagAnHour, hourSeconds)) &&
    (await limits.guard('notices-to', `${account} ${type}${by}`, noticesAnHour, hourSeconds))
  )
}

/** As `notifyBrowsers`, without waiting for success. */
function notifyInBackground(node: Node, notices: ReadonlyMap<string, AccountNotice>): void {
  notifyBrowsers(node, notices).catch((error: unknown) => node.logger.warn({ error }, 'browsers were not told'))
}

const daySeconds = 86_400
/** The page of calls and bookings. */
const callsPage = linkTo('calls')
/** The page of invitations. */
const invitationsPage = linkTo('home')

interface NoticeEvent {
  /** The account that acted; null for a guest. */
  from: string | null
  name: string
  body: string
  /** A path of the page. */
  url: string
  tag: string
  /** `notification` by default. */
  type?: PushType
}

/** The notice of an event for `to`, suppressed by their mute of the sender. */
export function eventNotice(
  to: string,
  { from, name, body, url, tag, type = 'notification' }: NoticeEvent,
): ReadonlyMap<string, AccountNotice> {
  const by = { callerId: null, callerName: null, senderAddress: from }
  const notice = { title: name, body, type, ...by, url, tag }
  return new Map([[to, { notice, room: from === null ? null : roomKey(dmOf(from, to)), seconds: daySeconds }]])
}

type Booked = Pick<
  ScheduledCall,
  'recipient_wallet_address' | 'scheduler_wallet_address' | 'scheduler_name' | 'guest_name'
> & { _id: string; parties: readonly string[] }

/** Notifies a host's browsers of a booking, in the background. */
export function notifyBooking(node: Node, call: Booked): void {
  const { _id, recipient_wallet_address: host, scheduler_wallet_address: from, scheduler_name, guest_name } = call
  const name = scheduler_name ?? guest_name ?? 'Somebody'
  notifyInBackground(node, eventNotice(host, { from, name, body: 'Has booked a call with you', ...callPlaceOf(_id) }))
}

/** Notifies the other parties' browsers of a cancellation, in the background. */
export function notifyCancellation(node: Node, { _id, parties }: Booked, by: Pick<NoticeEvent, 'from' | 'name'>): void {
  const doing = { ...by, body: 'Has cancelled a call with you', ...callPlaceOf(_id) }
  for (const party of parties) if (party !== by.from) notifyInBackground(node, eventNotice(party, doing))
}

/** Notifies the payer's browsers of a failed booking, in the background. */
export function notifyUnbooked(node: Node, { _id, scheduler_wallet_address: payer }: Booked, host: string): void {
  const body = 'This call is not booked, and its payment may have been charged'
  if (payer !== null)
    notifyInBackground(node, eventNotice(payer, { from: null, name: host, body, ...callPlaceOf(_id) }))
}

/** Later notices of a call replace earlier ones. */
const callPlaceOf = (call: string) => ({ url: callsPage, tag: `booking:${call}` })

/** Notifies browsers of a group invitation, in the background. */
export function notifyInvitation(node: Node, invitation: GroupInvitation): void {
  const { id, inviter_address: from, inviter_name: name, invitee_address: to, group_name } = invitation
  const place = { url: invitationsPage, tag: invitationTag(id) }
  notifyInBackground(
    node,
    eventNotice(to, { from, name, body: `Invites you to ${group_name}`, type: 'group_invitation', ...place }),
  )
}

/** Notifies the owner's browsers that their archive is ready, in the background. */
export function notifyArchive(node: Node, account: string, archive: string): void {
  const body = `Download it in the settings within ${archiveDays} days`
  const place = { url: linkTo('settings', { section: 'data' }), tag: `archive:${archive}` }
  notifyInBackground(node, eventNotice(account, { from: null, name: 'Your data is ready', body, ...place }))
}

/** Withdraws the notice of an invitation. */
export const withdrawInvitation = (node: Node, id: string): void => withdrawNotice(node, invitationTag(id))

const invitationTag = (id: string) => `group_invitation:${id}`

/** Notifies the callee's browsers of a ring, in the background. */
export function notifyRing(node: Node, { id, caller, callee, call_type }: Call): void {
  const name = chosenName(caller) ?? shortened(caller.address)
  const notice = {
    title: name,
    body: call_type === 'video' ? 'Incoming video call' : 'Incoming call',
    type: ringing,
    callerId: caller.address,
    callerName: name,
    senderAddress: caller.address,
    url: callsPage,
    tag: tagOf(id),
  }
  const room = roomKey(dmOf(caller.address, callee.address))
  notifyInBackground(node, new Map([[callee.address, { notice, room, seconds: ringSeconds }]]))
}

/** Withdraws the notice of a ring. */
export const withdrawRing = (node: Node, { id }: Pick<Call, 'id'>): void => withdrawNotice(node, tagOf(id))

const tagOf = (call: string) => `call:${call}`
