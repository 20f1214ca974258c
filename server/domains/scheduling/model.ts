import mongoose, { Schema } from 'mongoose'
import type { SchedulingSettings } from '#shared/api/scheduling'

/** What an account has set; what is absent has its default. The slug is absent where there is none. */
export type StoredSettings = Partial<SchedulingSettings> & { _id: string; updated_at: Date }

export const Settings = mongoose.model<StoredSettings>(
  'SchedulingSettings',
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
      updated_at: { type: Date, required: true },
    },
    { collection: 'scheduling_settings', versionKey: false },
  ).index({ scheduling_slug: 1 }, { unique: true, partialFilterExpression: { scheduling_slug: { $exists: true } } }),
)

/** A time of each week in which somebody can be booked. */
export interface StoredWindow {
  _id: string
  wallet_address: string
  name: string | null
  day_of_week: number
  /** `HH:MM:SS`; a window may end at `24:00:00`. */
  start_time: string
  end_time: string
  timezone: string
  /** Which of the places of its owner it takes. */
  place?: number
  created_at: Date
  updated_at: Date
}

const required = { type: String, required: true } as const

export const Windows = mongoose.model<StoredWindow>(
  'AvailabilityWindows',
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
      created_at: { type: Date, required: true },
      updated_at: { type: Date, required: true },
    },
    { collection: 'availability_windows', versionKey: false },
  )
    .index({ wallet_address: 1, day_of_week: 1, start_time: 1 })
    .index({ wallet_address: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } }),
)
