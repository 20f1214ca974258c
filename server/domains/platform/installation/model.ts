import { Schema } from 'mongoose'
import { moment, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** A setting that an admin has changed. */
export interface StoredSetting {
  _id: string
  value: boolean | string | null
  updated_by: string
  updated_at: Date
}

export const InstallationSettings = defineModel<StoredSetting>(
  'InstallationSettings',
  {
    shares: [{ owner: 'updated_by', becomes: 'unlink' }],
    archive: { never: 'It is what the installation has decided.' },
    stays: ['value'],
  },
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
