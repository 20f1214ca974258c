import { Schema } from 'mongoose'
import { later, moment, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { deliveryStates, stopReasons } from '#shared/api/platform/webhooks'

export type StopReason = (typeof stopReasons)[number]

export interface StoredWebhook {
  _id: string
  account: string
  /** The number among the account's webhooks, which limits them. */
  place?: number
  url: string
  description: string | null
  /** Keys of rooms. */
  rooms: string[]
  kinds: string[] | null
  /** Sealed, like the previous one. */
  secret: string
  previous_secret: string | null
  previous_until: Date | null
  enabled: boolean
  stopped_reason: StopReason | null
  stopped_room: string | null
  stopped_at: Date | null
  failing_since: Date | null
  /** The holder of its lease, if any. */
  holder: string | null
  /** When it is due; for a leased one, when its lease ends. */
  due_at: Date
  created_at: Date
  updated_at: Date
}

/** The due time of a webhook without work. */
export const neverDue = new Date('9999-01-01T00:00:00Z')

export const Webhooks = defineModel<StoredWebhook>(
  'Webhooks',
  {
    shares: [{ owner: 'account', becomes: 'erase' }],
    archive: 'webhooks',
    secret: ['secret', 'previous_secret', 'holder'],
  },
  new Schema<StoredWebhook>(
    {
      _id: required,
      account: required,
      place: { type: Number },
      url: required,
      description: optional,
      rooms: { type: [String], required: true },
      kinds: { type: [String], default: null },
      secret: required,
      previous_secret: optional,
      previous_until: later,
      enabled: { type: Boolean, required: true },
      stopped_reason: optional,
      stopped_room: optional,
      stopped_at: later,
      failing_since: later,
      holder: optional,
      due_at: moment,
      created_at: moment,
      updated_at: moment,
    } as object,
    { collection: 'webhooks', versionKey: false, minimize: false },
  )
    .index({ account: 1, place: 1 }, { unique: true })
    .index({ rooms: 1 })
    .index({ enabled: 1, due_at: 1 })
    .index({ enabled: 1, _id: 1 })
    .index({ updated_at: 1 }),
)

/** A slot of a room, taken before a webhook is enabled there, which limits them. */
export interface StoredPlace {
  /** The room and the number of the slot. */
  _id: string
  room: string
  webhook: string
  /** Changes with each taking. */
  hold: string
  taken_at: Date
}

export const WebhookPlaces = defineModel<StoredPlace>(
  'WebhookPlaces',
  {
    shares: [{ owner: 'webhook', becomes: 'erase', through: 'Webhooks' }],
    archive: { never: 'It is a place that the webhook takes.' },
  },
  new Schema<StoredPlace>(
    { _id: required, room: required, webhook: required, hold: required, taken_at: moment },
    { collection: 'webhook_places', versionKey: false },
  )
    .index({ room: 1 })
    .index({ webhook: 1 }),
)

/** The progress of a webhook in one room. */
export interface StoredPosition {
  /** Of the webhook and the room. */
  _id: string
  webhook: string
  room: string
  /** The last handled event. */
  seq: number
  /** Failed attempts of the next event, and the time of the first. */
  attempts: number
  failing_since: Date | null
  /** When the next event is due; in the past without failures. */
  due_at: Date
  /** When the last event was handled; null before. */
  served_at: Date | null
  /** Since when it is unsure whether the webhook has this room; absent if it is sure. */
  unsure_since?: Date
}

export const WebhookPositions = defineModel<StoredPosition>(
  'WebhookPositions',
  {
    shares: [{ owner: 'webhook', becomes: 'erase', through: 'Webhooks' }],
    archive: { never: 'It is how far the webhook has come.' },
  },
  new Schema<StoredPosition>(
    {
      _id: required,
      webhook: required,
      room: required,
      seq: { type: Number, required: true },
      attempts: { type: Number, required: true },
      failing_since: later,
      due_at: moment,
      served_at: later,
      unsure_since: { type: Date },
    },
    { collection: 'webhook_positions', versionKey: false },
  )
    .index({ webhook: 1, due_at: 1 })
    .index({ unsure_since: 1 }, { partialFilterExpression: { unsure_since: { $exists: true } } }),
)

/** An event and the outcome of its last attempt. */
export interface StoredDelivery {
  /** Of the webhook and the event. */
  _id: string
  webhook: string
  event: string
  room: string
  seq: number
  type: string
  /** `held` is stored as `retrying` of a disabled webhook. */
  state: Exclude<(typeof deliveryStates)[number], 'held'>
  attempts: number
  status: number | null
  milliseconds: number
  error: string | null
  at: Date
  next_at: Date | null
  expires_at: Date
}

export const WebhookDeliveries = defineModel<StoredDelivery>(
  'WebhookDeliveries',
  { shares: [{ owner: 'webhook', becomes: 'erase', through: 'Webhooks' }], archive: 'webhooks' },
  new Schema<StoredDelivery>(
    {
      _id: required,
      webhook: required,
      event: required,
      room: required,
      seq: { type: Number, required: true },
      type: required,
      state: required,
      attempts: { type: Number, required: true },
      status: { type: Number, default: null },
      milliseconds: { type: Number, required: true },
      error: optional,
      at: moment,
      next_at: later,
      expires_at: moment,
    } as object,
    { collection: 'webhook_deliveries', versionKey: false },
  )
    .index({ webhook: 1, at: -1 })
    .index({ webhook: 1, state: 1, at: 1 })
    .index({ state: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
