import mongoose, { Schema } from 'mongoose'
import { moment, required } from '#server/kernel/fields'

/** A setting that somebody has decided. */
export interface StoredSetting {
  /** Its key. */
  _id: string
  value: boolean | string | null
  updated_by: string
  updated_at: Date
}

export const InstallationSettings = mongoose.model<StoredSetting>(
  'InstallationSettings',
  new Schema<StoredSetting>(
    {
      _id: required,
      value: { type: Schema.Types.Mixed, default: null },
      updated_by: required,
      updated_at: moment,
    },
    { collection: 'installation_settings', versionKey: false },
  ),
)
