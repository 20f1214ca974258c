import mongoose, { Schema } from 'mongoose'
import type { Certificate } from '#shared/api/device-keys'

/** The public key of a device. One that was removed stays as a trace, so that nothing else is ever taken for it. */
export interface StoredDevice {
  /** The id that the device has made for itself. */
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

const required = { type: String, required: true } as const

export const DeviceKeys = mongoose.model<StoredDevice>(
  'DeviceKeys',
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
