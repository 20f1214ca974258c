import mongoose, { Schema } from 'mongoose'
import type { ProfileTheme } from '#shared/api/profile-theme'

/** What is absent has its default. */
export type StoredTheme = Partial<ProfileTheme> & { created_at: string; updated_at: string }

/** How one account shows itself, as one document, so that each change of it is one write. */
export interface ProfilePage {
  /** The account. */
  _id: string
  theme?: StoredTheme | null
  /** The addresses of pictures in this storage that it shows. */
  files: string[]
  /** New at each change. */
  version: string
}

const required = { type: String, required: true } as const

export const ProfilePages = mongoose.model<ProfilePage>(
  'ProfilePages',
  new Schema<ProfilePage>(
    { _id: required, theme: { type: Schema.Types.Mixed }, files: { type: [String], default: [] }, version: required },
    { collection: 'profile_pages', versionKey: false, minimize: false },
  ).index({ files: 1 }),
)
