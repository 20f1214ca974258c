import { Schema } from 'mongoose'
import { moment, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { PushType } from '#shared/api/platform/push'

/** A browser that gets the notices of an account. */
export interface StoredBrowser {
  /** SHA-256 of the endpoint: a browser belongs to one account. */
  _id: string
  account: string
  /** The device that subscribed it; no notices are sent after it signs out. */
  device: string
  endpoint: string
  p256dh: string
  auth: string
  created_at: Date
  updated_at: Date
}

export const PushBrowsers = defineModel<StoredBrowser>(
  'PushBrowsers',
  { shares: [{ owner: 'account', becomes: 'erase' }], archive: 'push', secret: ['endpoint', 'p256dh', 'auth'] },
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

/** The last notice of a tag that was intended for a browser, and the last one sent. */
export interface StoredNotice {
  /** The browser, the account and the tag, with spaces between. */
  _id: string
  account: string
  browser: string
  device: string
  tag: string
  type: PushType
  /** The room whose mute suppresses the notice, if any. */
  room: string | null
  /** The id of the message, or a new id for anything else. */
  about: string
  /** The event is over: a call that rang, a pending request. */
  is_over: boolean
  /** The hash of the shown notice and its message; null if nothing is shown. */
  told: string | null
  told_of: string | null
  expires_at: Date
}

const flagged = { type: Boolean, required: true } as const

export const PushNotices = defineModel<StoredNotice>(
  'PushNotices',
  {
    shares: [{ owner: 'account', becomes: 'erase' }],
    archive: { never: 'It is of what a browser shows, and lapses.' },
  },
  new Schema<StoredNotice>(
    {
      _id: required,
      account: required,
      browser: required,
      device: required,
      tag: required,
      type: required,
      room: optional,
      about: required,
      is_over: flagged,
      told: optional,
      told_of: optional,
      expires_at: moment,
    },
    { collection: 'push_notices', versionKey: false },
  )
    .index({ tag: 1, account: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

/** The preferences of an account; everything is on by default. */
export interface StoredPreferences {
  /** The account. */
  _id: string
  quiet_start: number | null
  quiet_end: number | null
  /** The zone of the hours; null means UTC, as in older versions. */
  quiet_timezone?: string | null
  notify_dms: boolean
  notify_groups: boolean
  notify_channels: boolean
  notify_calls: boolean
  /** Absent in older versions, which means on. */
  notify_invitations?: boolean
}

const hour = { type: Number, default: null } as const
const flag = { type: Boolean, default: true } as const

export const PushPreferences = defineModel<StoredPreferences>(
  'PushPreferences',
  { shares: [{ owner: '_id', becomes: 'erase' }], archive: 'push' },
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
