import mongoose, { Schema } from 'mongoose'
import { moment, required } from '#server/kernel/fields'

/** A browser that is told of what concerns an account. */
export interface StoredBrowser {
  /** SHA-256 of the endpoint: a browser belongs to one account. */
  _id: string
  account: string
  /** The line of sessions that subscribed it; it is told nothing once that is over. */
  device: string
  endpoint: string
  p256dh: string
  auth: string
  created_at: Date
  updated_at: Date
}

export const PushBrowsers = mongoose.model<StoredBrowser>(
  'PushBrowsers',
  new Schema<StoredBrowser>(
    {
      _id: required,
      account: required,
      device: required,
      endpoint: required,
      p256dh: required,
      auth: required,
      created_at: moment,
      updated_at: moment,
    },
    { collection: 'push_subscriptions', versionKey: false },
  ).index({ account: 1, updated_at: -1 }),
)

/** Of what an account wants to be notified; of everything, where nothing is stored. */
export interface StoredPreferences {
  /** The account. */
  _id: string
  quiet_start: number | null
  quiet_end: number | null
  /** The zone by whose clocks these are; null for UTC, by which older versions store them. */
  quiet_timezone?: string | null
  notify_dms: boolean
  notify_groups: boolean
  notify_channels: boolean
  notify_calls: boolean
  /** Older versions store none: they are told. */
  notify_invitations?: boolean
}

const hour = { type: Number, default: null } as const
const flag = { type: Boolean, default: true } as const

export const PushPreferences = mongoose.model<StoredPreferences>(
  'PushPreferences',
  new Schema<StoredPreferences>(
    {
      _id: required,
      quiet_start: hour,
      quiet_end: hour,
      quiet_timezone: { type: String, default: null },
      notify_dms: flag,
      notify_groups: flag,
      notify_channels: flag,
      notify_calls: flag,
      notify_invitations: flag,
    } as object,
    { collection: 'push_preferences', versionKey: false },
  ),
)
