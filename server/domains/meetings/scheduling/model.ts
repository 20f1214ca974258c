import { Schema } from 'mongoose'
import { later, moment, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { ScheduledCall } from '#shared/api/meetings/booking'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'

/** The settings of an account; absent fields have defaults. */
export type StoredSettings = Partial<SchedulingSettings> & { _id: string; updated_at: Date }

export const Settings = defineModel<StoredSettings>(
  'SchedulingSettings',
  { shares: [{ owner: '_id', becomes: 'erase' }], archive: 'scheduling', stays: ['scheduling_wallet_address'] },
  new Schema<StoredSettings>(
    {
      _id: { type: String, required: true },
      scheduling_enabled: { type: Boolean },
      scheduling_slug: { type: String },
      scheduling_title: { type: String },
      scheduling_bio: { type: String },
      scheduling_free_enabled: { type: Boolean },
      scheduling_paid_enabled: { type: Boolean },
      scheduling_free_duration_minutes: { type: Number },
      scheduling_paid_duration_minutes: { type: Number },
      scheduling_price_cents: { type: Number },
      scheduling_network: { type: String },
      scheduling_wallet_address: { type: String },
      scheduling_duration_minutes: { type: Number },
      scheduling_buffer_minutes: { type: Number },
      scheduling_advance_notice_hours: { type: Number },
      scheduling_calendar_sync: { type: Boolean },
      updated_at: moment,
    },
    { collection: 'scheduling_settings', versionKey: false },
  ).index({ scheduling_slug: 1 }, { unique: true, partialFilterExpression: { scheduling_slug: { $exists: true } } }),
)

/** A weekly window in which the host can be booked. */
export interface StoredWindow {
  _id: string
  wallet_address: string
  name: string | null
  day_of_week: number
  /** `HH:MM:SS`; a window may end at `24:00:00`. */
  start_time: string
  end_time: string
  timezone: string
  /** The number of the window among its owner's. */
  place?: number
  created_at: Date
  updated_at: Date
}

export const Windows = defineModel<StoredWindow>(
  'AvailabilityWindows',
  { shares: [{ owner: 'wallet_address', becomes: 'erase' }], archive: 'scheduling' },
  new Schema<StoredWindow>(
    {
      _id: required,
      wallet_address: required,
      name: { type: String, default: null },
      day_of_week: { type: Number, required: true },
      start_time: required,
      end_time: required,
      timezone: required,
      place: { type: Number },
      created_at: moment,
      updated_at: moment,
    },
    { collection: 'availability_windows', versionKey: false },
  )
    .index({ wallet_address: 1, day_of_week: 1, start_time: 1 })
    .index({ wallet_address: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } }),
)

/** The stored status; readers see `completed` after the end. */
type StoredStatus = Exclude<ScheduledCall['status'], 'completed'>

type Kept = Omit<
  ScheduledCall,
  | 'id'
  | 'scheduled_at'
  | 'status'
  | 'cancel_reason'
  | 'payment_usable_until'
  | 'invite_sent_at'
  | 'invite_opened_at'
  | 'created_at'
  | 'updated_at'
>

/** A booked call. None is deleted, as the host's numbers keep bookings apart. */
export interface StoredBooking extends Kept {
  _id: string
  /** From 1, without gaps, per host. */
  number: number
  status: StoredStatus
  scheduled_at: Date
  ends_at: Date
  /** The host, and the booker if they have an account. */
  parties: string[]
  /** The booker: an account, or the address of a guest. */
  booker: string
  /** The payment that it was booked with or is held for, if any. */
  payment_id?: string
  /** Until when a payment of unknown outcome can be charged, after its hold ended. */
  payment_usable_until?: Date
  /** A free call by a booker who is no friend of the host. */
  of_stranger?: boolean
  /** When another node sends the notice; absent once it was sent. */
  tell_at?: Date
  /** The account that cancelled it, or null for a guest; absent otherwise and in older rows. */
  cancelled_by?: string | null
  /** The given reason; absent otherwise and in older rows. */
  cancel_reason?: string | null
  /** When the host's digest with this call is due; absent without one. */
  write_at?: Date
  invite_sent_at: Date | null
  invite_opened_at: Date | null
  created_at: Date
  updated_at: Date
}

const count = { type: Number, required: true } as const
const flag = { type: Boolean, required: true } as const

export const Bookings = defineModel<StoredBooking>(
  'Bookings',
  {
    shares: [
      { owner: 'recipient_wallet_address', becomes: 'unlink', clears: ['title', 'notes', 'cancel_reason'] },
      {
        owner: 'scheduler_wallet_address',
        becomes: 'unlink',
        clears: ['title', 'scheduler_name', 'scheduler_email', 'guest_name', 'guest_email', 'notes', 'cancel_reason'],
        archive: false,
      },
      { owner: 'parties', becomes: 'unlink', hides: ['calendar_event_id'] },
      { owner: 'booker', becomes: 'unlink', archive: false },
      { owner: 'cancelled_by', becomes: 'unlink', archive: false },
    ],
    archive: 'booking',
    secret: ['invite_token'],
    stays: ['payment_transaction_hash'],
  },
  new Schema<StoredBooking>(
    {
      _id: required,
      number: count,
      scheduler_wallet_address: optional,
      recipient_wallet_address: required,
      scheduled_at: moment,
      ends_at: moment,
      duration_minutes: count,
      title: required,
      status: required,
      is_paid: flag,
      payment_required: flag,
      payment_amount_cents: { type: Number, default: null },
      payment_transaction_hash: optional,
      payment_status: optional,
      platform_fee_cents: count,
      platform_fee_status: required,
      guest_email: optional,
      guest_name: optional,
      scheduler_email: optional,
      scheduler_name: optional,
      notes: optional,
      timezone: required,
      invite_token: required,
      invite_sent_at: later,
      invite_opened_at: later,
      calendar_event_id: optional,
      parties: { type: [String], required: true },
      booker: required,
      payment_id: { type: String },
      payment_usable_until: { type: Date },
      of_stranger: { type: Boolean },
      tell_at: { type: Date },
      cancelled_by: { type: String },
      cancel_reason: { type: String },
      write_at: { type: Date },
      created_at: moment,
      updated_at: moment,
    },
    { collection: 'scheduled_calls', versionKey: false },
  )
    .index({ recipient_wallet_address: 1, number: 1 }, { unique: true })
    .index({ invite_token: 1 }, { unique: true })
    .index({ payment_id: 1 }, { unique: true, partialFilterExpression: { payment_id: { $exists: true } } })
    .index({ payment_status: 1, _id: 1 })
    .index({ tell_at: 1 }, { partialFilterExpression: { tell_at: { $exists: true } } })
    .index({ write_at: 1 }, { partialFilterExpression: { write_at: { $exists: true } } })
    .index({ recipient_wallet_address: 1, scheduled_at: 1 })
    .index({ parties: 1, scheduled_at: 1 }),
)
