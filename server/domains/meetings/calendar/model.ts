import { Schema } from 'mongoose'
import { moment, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** A connected calendar of an account; one per provider. */
export interface StoredConnection {
  /** Of the provider and the account. */
  _id: string
  wallet_address: string
  provider: 'google'
  /** Sealed, as is the next. */
  access_token: string
  refresh_token: string
  token_expires_at: Date
  calendar_id: string
  calendar_email: string | null
  /** False after the provider refused access. */
  is_active: boolean
  /** When the provider last gave access. */
  last_sync_at: Date
  /** When access is refreshed. */
  refresh_at: Date
  created_at: Date
}

export const Connections = defineModel<StoredConnection>(
  'CalendarConnections',
  {
    shares: [{ owner: 'wallet_address', becomes: 'erase' }],
    archive: 'calendar',
    secret: ['access_token', 'refresh_token'],
  },
  new Schema<StoredConnection>(
    {
      _id: required,
      wallet_address: required,
      provider: required,
      access_token: required,
      refresh_token: required,
      token_expires_at: moment,
      calendar_id: required,
      calendar_email: { type: String, default: null },
      is_active: { type: Boolean, required: true },
      last_sync_at: moment,
      refresh_at: moment,
      created_at: moment,
    } as object,
    { collection: 'calendar_connections', versionKey: false },
  )
    .index({ wallet_address: 1 })
    .index({ is_active: 1, refresh_at: 1 })
    .index({ calendar_email: 1 }),
)

/** A used state, so that none works twice. */
interface SpentState {
  _id: string
  expires_at: Date
}

export const SpentStates = defineModel<SpentState>(
  'SpentCalendarStates',
  "nobody's",
  new Schema<SpentState>(
    { _id: required, expires_at: moment },
    { collection: 'spent_calendar_states', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
