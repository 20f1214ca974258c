import { Schema } from 'mongoose'
import { required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'
import type { ProfileTheme } from '#shared/api/profile-theme'
import type { WidgetSize, WidgetType } from '#shared/api/profile-widgets'

/** What is absent has its default. */
export type StoredTheme = Partial<ProfileTheme> & { created_at: string; updated_at: string }

export interface StoredWidget {
  id: string
  widget_type: WidgetType
  size: WidgetSize
  position: number
  is_visible: boolean
  config: { [field: string]: unknown }
  created_at: string
  updated_at: string
}

/** How one account shows itself, as one document, so that each change of it is one write. */
export interface ProfilePage {
  /** The account. */
  _id: string
  theme?: StoredTheme | null
  /** Absent where it has none, as in what older versions stored. */
  widgets?: StoredWidget[]
  /** The addresses of pictures in this storage that it shows. */
  files: string[]
  /** New at each change. */
  version: string
}

export const ProfilePages = defineModel<ProfilePage>(
  'ProfilePages',
  { shares: [{ owner: '_id', becomes: 'erase' }], archive: 'profiles' },
  new Schema<ProfilePage>(
    {
      _id: required,
      theme: { type: Schema.Types.Mixed },
      widgets: { type: [Schema.Types.Mixed], default: undefined },
      files: { type: [String], default: [] },
      version: required,
    },
    { collection: 'profile_pages', versionKey: false, minimize: false },
  ).index({ files: 1 }),
)
