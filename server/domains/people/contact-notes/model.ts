import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** The note of one account about another; no row if empty. */
export interface ContactNote {
  /** The author and the subject, separated by a space. */
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
