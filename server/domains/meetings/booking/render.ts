import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { type Profile, profilesOf } from '#server/domains/people/accounts/profiles'
import type { Node } from '#server/kernel/context'
import type { booking as contract, ListedCall, ScheduledCall } from '#shared/api/meetings/booking'
import { isSameAccount } from '#shared/kit/accounts'
import type { OutputOf } from '#shared/kit/contract'

/** A call that is over and not cancelled is completed; that is never stored. */
export const callStatusOf = ({ status, ends_at }: StoredBooking, now: number): ScheduledCall['status'] =>
  status !== 'cancelled' && ends_at.getTime() <= now ? 'completed' : status

export function shownCall(call: StoredBooking, now: number): ScheduledCall {
  const { _id, number, ends_at, parties, booker, payment_id, of_stranger, ...visible } = call
  const { tell_at, cancelled_by, write_at, scheduled_at, ...rest } = visible
  const { payment_usable_until, invite_sent_at, invite_opened_at, created_at, updated_at } = call
  return {
    ...rest,
    id: _id,
    cancel_reason: call.cancel_reason ?? null,
    scheduled_at: scheduled_at.toISOString(),
    status: callStatusOf(call, now),
    payment_usable_until: payment_usable_until?.toISOString() ?? null,
    invite_sent_at: invite_sent_at?.toISOString() ?? null,
    invite_opened_at: invite_opened_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

/** The fate of the payment of a cancelled call; null for a free one. */
export function cancelledPaymentOf({ payment_required, payment_status, payment_usable_until }: StoredBooking): Payment {
  if (!payment_required) return null
  if (payment_status === null) return payment_usable_until ? 'unknown' : 'withdrawn'
  return payment_status === 'pending' ? 'unknown' : 'kept'
}

type Payment = OutputOf<typeof contract.cancel>['payment']

/** Calls as a party sees them, with the profiles of both. */
export async function listedCalls(node: Node, viewer: string, calls: readonly StoredBooking[]): Promise<ListedCall[]> {
  const profiles = await profilesOf(
    node,
    calls.flatMap(({ parties }) => parties),
  )
  const partyOf = (id: string | null) => shownParty(id === null ? undefined : profiles.get(id))
  return calls.map((call) => ({
    ...shownCall(call, node.now()),
    scheduler_user: partyOf(call.scheduler_wallet_address),
    recipient_user: partyOf(call.recipient_wallet_address),
    is_host: isSameAccount(call.recipient_wallet_address, viewer),
  }))
}

const shownParty = (profile: Profile | undefined): ListedCall['scheduler_user'] =>
  profile
    ? {
        wallet_address: profile.id,
        display_name: profile.display_name,
        username: profile.username,
        avatar: profile.avatar_url,
      }
    : null

/** The name of an account by its profile. */
export const nameOfAccount = async (node: Node, account: string): Promise<string> =>
  (await profilesOf(node, [account])).get(account)?.name ?? account

/** The call as its invitation token shows it. */
export function invitedCall(call: StoredBooking, hostName: string, now: number) {
  const { id, scheduled_at, duration_minutes, title, status, guest_name, guest_email, ...rest } = shownCall(call, now)
  const { timezone, is_paid, recipient_wallet_address, cancel_reason, invite_token } = rest
  const about = { id, scheduled_at, duration_minutes, title, status, guest_name, guest_email, timezone, is_paid }
  return { ...about, recipient_wallet_address, cancel_reason, invite_token, hostName }
}
