import { Schema } from 'mongoose'
import { required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'

/** A file that somebody stored. */
export interface StoredUpload {
  /** Its key in the storage. */
  _id: string
  owner: string
  bytes: number
  /** `conversation iv`, hashed: what one key encrypts must not begin with the same vector twice. */
  vector: string
  /** Its bytes, hashed. */
  content: string
  /** What its sender said with it that it holds, hashed with a salt. */
  commitment?: string
  /** Of evidence for a report: the message that it is of, and whether that message's sender has committed to it. */
  evidence_of?: string
  is_as_sent?: boolean
  created_at: Date
  /** The address that was told for it. */
  url: string
  /** Since when the storage has it; absent until then. */
  stored_at?: Date
  /** Who writes it to the storage, until when at the most. */
  holder?: string
  held_until?: Date
  /** Another with each upload and each message that names it, so that nobody removes what was just named. */
  claim: string
  /** Of the messages that name it and are being sent. */
  claims: string[]
  /** When it was last seen that something names it, or may yet; absent where an older version stored what a sealed message may name. */
  checked_at?: Date
  /** Since when it is being removed. */
  taken_at?: Date
}

/** A file that the storage has, and nobody removes. */
export const storedFile = { stored_at: { $exists: true }, taken_at: { $exists: false } } as const

export const UploadRecords = defineModel<StoredUpload>(
  'Uploads',
  {
    shares: [{ owner: 'owner', becomes: 'unlink' }],
    archive: 'uploads',
    secret: ['vector', 'content', 'commitment', 'claim', 'claims', 'holder', 'evidence_of', 'is_as_sent'],
  },
  new Schema<StoredUpload>(
    {
      _id: required,
      owner: required,
      bytes: { type: Number, required: true },
      vector: required,
      content: required,
      commitment: String,
      evidence_of: String,
      is_as_sent: Boolean,
      created_at: { type: Date, required: true },
      url: required,
      stored_at: Date,
      holder: String,
      held_until: Date,
      claim: required,
      claims: { type: [String], default: [] },
      checked_at: Date,
      taken_at: Date,
    },
    { collection: 'uploads', versionKey: false },
  )
    .index({ vector: 1 }, { unique: true })
    .index({ owner: 1 })
    .index({ checked_at: 1 }, { partialFilterExpression: { checked_at: { $exists: true } } }),
)

/** What a sealed file that was removed began with: no other file may, ever. */
export interface UsedVector {
  /** As `vector` of the file. */
  _id: string
  owner: string
  content: string
}

export const UsedVectors = defineModel<UsedVector>(
  'UsedVectors',
  {
    shares: [
      {
        owner: 'owner',
        becomes: 'keep',
        reason: 'What a key has sealed must not be sealed with the same vector again.',
        days: 'permanently',
      },
    ],
    archive: { never: 'It holds hashes.' },
    secret: ['content'],
  },
  new Schema<UsedVector>(
    { _id: required, owner: required, content: required },
    { collection: 'used_vectors', versionKey: false },
  ),
)

/** What an account has stored on a day. */
export interface StoredQuota {
  /** `account day`. */
  _id: string
  bytes: number
  expires_at: Date
}

export const UploadQuotas = defineModel<StoredQuota>(
  'UploadQuotas',
  {
    shares: [{ owner: '_id', becomes: 'erase', at: 'first word' }],
    archive: { never: 'It is a count of a day, and lapses.' },
  },
  new Schema<StoredQuota>(
    { _id: required, bytes: { type: Number, required: true }, expires_at: { type: Date, required: true } },
    { collection: 'upload_quotas', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
