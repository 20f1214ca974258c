import { randomBytes } from 'node:crypto'
import type { NewCall } from '#server/domains/meetings/scheduling/host-schedule'

/** A booker: an account, or a guest by name and email. */
export interface Booker {
  account: string | null
  /** The account, or the address of the guest. */
  id: string
  name: string
  /** As given for this call. */
  email: string | null
}

/** A call as its booker describes it. */
interface CallRequest {
  host: string
  scheduledAt: string
  timezone?: string | undefined
  title?: string | undefined
  notes?: string | null | undefined
  guestName?: string | undefined
  guestEmail?: string | undefined
}

/** A new call without a payment. */
export const newCall = (_id: string, minutes: number, booker: Booker, request: CallRequest, now: Date): NewCall => ({
  _id,
  scheduler_wallet_address: booker.account,
  recipient_wallet_address: request.host,
  scheduled_at: new Date(request.scheduledAt),
  duration_minutes: minutes,
  title: request.title ?? 'Scheduled Call',
  status: 'confirmed',
  is_paid: false,
  payment_required: false,
  payment_amount_cents: null,
  payment_transaction_hash: null,
  payment_status: null,
  platform_fee_cents: 0,
  platform_fee_status: 'waived',
  guest_email: request.guestEmail ?? null,
  guest_name: request.guestName ?? null,
  scheduler_email: booker.account === null ? null : booker.email,
  scheduler_name: booker.account === null ? null : booker.name,
  notes: request.notes?.trim() || null,
  timezone: request.timezone ?? 'UTC',
  invite_token: randomBytes(16).toString('hex'),
  invite_sent_at: null,
  invite_opened_at: null,
  calendar_event_id: null,
  parties: [...new Set([request.host, ...(booker.account === null ? [] : [booker.account])])],
  booker: booker.id,
  created_at: now,
  updated_at: now,
})
