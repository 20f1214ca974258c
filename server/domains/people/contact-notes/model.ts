import { Schema } from 'mongoose'
import { required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'

/** What one account has noted about another. Where it is empty, there is no row. */
export interface ContactNote {
  /** The author and whom it is about, with a space between. */
  _id: string
  viewer_address: string
  subject_address: string
  notes: string
  updated_at: string
}

export const ContactNotes = defineModel<ContactNote>(
  'ContactNotes',
  {
    shares: [
      { owner: 'viewer_address', becomes: 'erase' },
      { owner: 'subject_address', becomes: 'erase', archive: false },
    ],
    archive: 'contactNotes',
  },
  new Schema<ContactNote>(
    { _id: required, viewer_address: required, subject_address: required, notes: required, updated_at: required },
    { collection: 'contact_notes', versionKey: false },
  ).index({ viewer_address: 1 }),
)
