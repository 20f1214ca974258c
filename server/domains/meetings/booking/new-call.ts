import { randomBytes } from 'node:crypto'
import type { NewCall } from '#server/domains/meetings/scheduling/diary'

/** Who books: somebody with an account, or a guest by name and email. */
export interface Booker {
  account: string | null
  /** Of the account, or the address of the guest. */
  id: string
  name: string
  /** What was given for this call. */
  email: string | null
}

/** What is said of a call by who books it. */
interface Said {
  host: string
  scheduledAt: string
  timezone?: string | undefined
  title?: string | undefined
  notes?: string | null | undefined
  guestName?: string | undefined
  guestEmail?: string | undefined
}

/** A call of so many minutes as it is booked, where nothing is paid for it. */
export const newCall = (_id: string, minutes: number, booker: Booker, said: Said, now: Date): NewCall => ({
  _id,
  scheduler_wallet_address: booker.account,
  recipient_wallet_address: said.host,
  scheduled_at: new Date(said.scheduledAt),
  duration_minutes: minutes,
  title: said.title ?? 'Scheduled Call',
  status: 'confirmed',
  is_paid: false,
  payment_required: false,
  payment_amount_cents: null,
  payment_transaction_hash: null,
  payment_status: null,
  platform_fee_cents: 0,
  platform_fee_status: 'waived',
  guest_email: said.guestEmail ?? null,
  guest_name: said.guestName ?? null,
  scheduler_email: booker.account === null ? null : booker.email,
  scheduler_name: booker.account === null ? null : booker.name,
  notes: said.notes?.trim() || null,
  timezone: said.timezone ?? 'UTC',
  invite_token: randomBytes(16).toString('hex'),
  invite_sent_at: null,
  invite_opened_at: null,
  calendar_event_id: null,
  parties: [...new Set([said.host, ...(booker.account === null ? [] : [booker.account])])],
  booker: booker.id,
  created_at: now,
  updated_at: now,
})
