import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { ProfileTheme } from '#shared/api/people/profile-theme'
import type { WidgetSize, WidgetType } from '#shared/api/people/profile-widgets'

/** Absent fields have their default. */
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

/** The profile page of an account in one document, so that each change is one write. */
export interface ProfilePage {
  /** The account. */
  _id: string
  theme?: StoredTheme | null
  /** Absent without widgets, as in documents of older versions. */
  widgets?: StoredWidget[]
  /** The URLs of stored pictures on the page. */
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
