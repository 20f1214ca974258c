import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { Certificate, KeptKeys } from '#shared/api/people/device-keys'

/** A device's public key. A removed one stays as a trace, so that its id is never reused. */
export interface StoredDevice {
  /** The id that the device generated. */
  _id: string
  account: string
  public_key: string
  certificate: Certificate | null
  name: string
  /** Ordered by time. */
  order: string
  created_at: string
  removed_at: string | null
}

export const DeviceKeys = defineModel<StoredDevice>(
  'DeviceKeys',
  { shares: [{ owner: 'account', becomes: 'erase' }], archive: 'deviceKeys' },
  new Schema<StoredDevice>(
    {
      _id: required,
      account: required,
      public_key: required,
      certificate: { type: Schema.Types.Mixed, default: null },
      name: { type: String, default: '' },
      order: required,
      created_at: required,
      removed_at: { type: String, default: null },
    },
    { collection: 'device_keys', versionKey: false },
  ).index({ account: 1, removed_at: 1, order: 1 }),
)

/** A client's backup of a messaging key; opaque, and absent if it was never stored. */
export type StoredKeys = { [Field in keyof KeptKeys]?: KeptKeys[Field] | null } & {
  /** The account. */
  _id: string
  updated_at: Date
}

export const MessagingKeys = defineModel<StoredKeys>(
  'MessagingKeys',
  {
    shares: [{ owner: '_id', becomes: 'erase' }],
    archive: 'deviceKeys',
    secret: ['messaging_private_key_encrypted', 'messaging_backup_encrypted', 'messaging_backup_salt'],
  },
  new Schema<StoredKeys>(
    {
      _id: required,
      messaging_public_key: { type: String },
      messaging_private_key_encrypted: { type: String },
      messaging_backup_encrypted: { type: String },
      messaging_backup_salt: { type: String },
      messaging_backup_enabled: { type: Boolean },
      updated_at: { type: Date, required: true },
    },
    { collection: 'messaging_keys', versionKey: false },
  ),
)
