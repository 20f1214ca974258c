import { Schema } from 'mongoose'
import { later, moment, optional, required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'
import type { deliveryStates, stopReasons } from '#shared/api/webhooks'

export type StopReason = (typeof stopReasons)[number]

export interface StoredWebhook {
  _id: string
  account: string
  /** Among those of the account, so that there are no more than so many. */
  place?: number
  url: string
  description: string | null
  /** Keys of rooms. */
  rooms: string[]
  kinds: string[] | null
  /** Sealed, as is the one of before. */
  secret: string
  previous_secret: string | null
  previous_until: Date | null
  enabled: boolean
  stopped_reason: StopReason | null
  stopped_room: string | null
  stopped_at: Date | null
  failing_since: Date | null
  /** Whoever delivers it now; null where nobody does. */
  holder: string | null
  /** When somebody is to look at it; while somebody holds it, until when nobody else may. */
  due_at: Date
  created_at: Date
  updated_at: Date
}

/** When nothing is left to do. */
export const never = new Date('9999-01-01T00:00:00Z')

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

/** One of the places of a room, taken by a webhook before it is enabled there, so that there are no more than so many. */
export interface StoredPlace {
  /** Of the room and the number of the place. */
  _id: string
  room: string
  webhook: string
  /** Changes each time it is taken. */
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

/** How far a webhook has come in one room. */
export interface StoredPosition {
  /** Of the webhook and the room. */
  _id: string
  webhook: string
  room: string
  /** Of the last event that it is done with. */
  seq: number
  /** Those of the next one that failed, and when the first of them did. */
  attempts: number
  failing_since: Date | null
  /** When the next one is due; long ago where nothing failed. */
  due_at: Date
  /** When it was last done with an event; null before. */
  served_at: Date | null
  /** Since when it is to be found out whether its webhook has this room: it was begun or left then. Absent where that is known. */
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

/** One event, and what came of the last attempt to send it. */
export interface StoredDelivery {
  /** Of the webhook and the event. */
  _id: string
  webhook: string
  event: string
  room: string
  seq: number
  type: string
  /** What is `held` is stored as `retrying`: the webhook says whether it is on. */
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
