import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

export interface StoredUpload {
  /** Its key in the storage. */
  _id: string
  owner: string
  bytes: number
  /** The hash of conversation and vector: one key must not use a vector twice. */
  vector: string
  /** Its bytes, hashed. */
  content: string
  /** The sender's commitment to the content, as a salted hash. */
  commitment?: string
  /** Evidence alone: its message, and whether the message's sender committed to it. */
  evidence_of?: string
  is_as_sent?: boolean
  created_at: Date
  /** Its address, as it was answered. */
  url: string
  /** When the storage got it; absent before. */
  stored_at?: Date
  /** The lease of the node that writes it. */
  holder?: string
  held_until?: Date
  /** Changes with each upload and use, so that a file in use is not removed. */
  claim: string
  /** Claims of messages that are being sent with it. */
  claims: string[]
  /** When a use of it was last seen; absent in older versions for possible files of sealed messages. */
  checked_at?: Date
  /** When its removal began. */
  taken_at?: Date
}

/** Filters files that are stored and not under removal. */
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

/** The vector of a removed sealed file, which no other file may have. */
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

interface StoredQuota {
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
