import type { Node } from '#server/kernel/context'
import type { ScheduledCall } from '#shared/api/booking'
import type { GroupInvitation } from '#shared/api/group-invitations'
import type { PushType } from '#shared/api/push'
import { linkTo } from '#shared/kit/pages'
import { dmOf, roomKey } from '#shared/kit/room-key'
import { type Told, withdraw } from './giving.ts'
import { tellQuietly } from './tell.ts'

const daySeconds = 86_400
/** Where the page shows calls, those that are booked too. */
export const callsPage = linkTo('calls')
/** Invitations stand below the list of rooms. */
const invitationsPage = linkTo('home')

interface Doing {
  /** Whose it is; null of a guest. */
  from: string | null
  name: string
  body: string
  /** Where the page shows it. */
  url: string
  tag: string
  /** `notification`, where nothing is said. */
  type?: PushType
}

/** Something that somebody has done, as `to` is told of it; not where `to` has silenced them. */
export function doingOf(
  to: string,
  { from, name, body, url, tag, type = 'notification' }: Doing,
): ReadonlyMap<string, Told> {
  const by = { callerId: null, callerName: null, senderAddress: from }
  const notice = { title: name, body, type, ...by, url, tag }
  return new Map([[to, { notice, room: from === null ? null : roomKey(dmOf(from, to)), seconds: daySeconds }]])
}

type Booked = Pick<
  ScheduledCall,
  'recipient_wallet_address' | 'scheduler_wallet_address' | 'scheduler_name' | 'guest_name'
> & { _id: string; parties: readonly string[] }

/** Has the browsers of a host told that a call with them was booked; nobody waits for it. */
export function tellOfBooking(node: Node, call: Booked): void {
  const { _id, recipient_wallet_address: host, scheduler_wallet_address: from, scheduler_name, guest_name } = call
  const name = scheduler_name ?? guest_name ?? 'Somebody'
  tellQuietly(node, doingOf(host, { from, name, body: 'Has booked a call with you', ...placeOf(_id) }))
}

/** Has the browsers of the others who would have taken part told that a call was cancelled; nobody waits for it. */
export function tellOfCancelling(node: Node, { _id, parties }: Booked, by: Pick<Doing, 'from' | 'name'>): void {
  const doing = { ...by, body: 'Has cancelled a call with you', ...placeOf(_id) }
  for (const party of parties) if (party !== by.from) tellQuietly(node, doingOf(party, doing))
}

/** Has the browsers of who paid for a call told that it is not booked, as nobody could tell whether the payment was carried out; nobody waits for it. */
export function tellOfUnbooked(node: Node, { _id, scheduler_wallet_address: payer }: Booked, host: string): void {
  const body = 'This call is not booked, and its payment may have been charged'
  if (payer !== null) tellQuietly(node, doingOf(payer, { from: null, name: host, body, ...placeOf(_id) }))
}

/** What is told of a call later takes the place of what was told before. */
const placeOf = (call: string) => ({ url: callsPage, tag: `booking:${call}` })

/** Has the browsers of who is invited to a group told of it; nobody waits for it. */
export function tellOfInvitation(node: Node, invitation: GroupInvitation): void {
  const { id, inviter_address: from, inviter_name: name, invitee_address: to, group_name } = invitation
  const place = { url: invitationsPage, tag: invitationTag(id) }
  tellQuietly(
    node,
    doingOf(to, { from, name, body: `Invites you to ${group_name}`, type: 'group_invitation', ...place }),
  )
}

/** An invitation that waits no more is told to nobody. */
export const tellInvitationEnded = (node: Node, id: string): void => withdraw(node, invitationTag(id))

const invitationTag = (id: string) => `group_invitation:${id}`
