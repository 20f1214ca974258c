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

/** What a visitor has left in a widget, or on a profile. */
export interface StoredWidgetEntry {
  _id: string
  /** The account of the profile. */
  owner: string
  /** Empty for a visit. */
  widget_id: string
  kind: 'entry' | 'choice' | 'visit'
  author: string
  /** Of an entry. */
  text?: string
  /** The id of an option, or a sign. */
  choice?: string
  created_at: Date
}

export const WidgetEntries = defineModel<StoredWidgetEntry>(
  'WidgetEntries',
  {
    shares: [
      { owner: 'author', becomes: 'erase' },
      { owner: 'owner', becomes: 'erase' },
    ],
    archive: 'profiles',
  },
  new Schema<StoredWidgetEntry>(
    {
      _id: required,
      owner: required,
      widget_id: { type: String, default: '' },
      kind: required,
      author: required,
      text: { type: String },
      choice: { type: String },
      created_at: { type: Date, required: true },
    },
    { collection: 'widget_entries', versionKey: false },
  )
    .index({ widget_id: 1, kind: 1, created_at: -1, _id: -1 })
    .index({ widget_id: 1, kind: 1, choice: 1 })
    .index({ widget_id: 1, kind: 1, author: 1 })
    .index({ owner: 1, kind: 1 })
    .index({ author: 1 }),
)
