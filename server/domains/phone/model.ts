import mongoose, { Schema } from 'mongoose'

export interface Phone {
  /** The account. */
  _id: string
  /** E.164. */
  phone_number: string
  /** SHA-256 of the number. */
  phone_hash: string
  verified: boolean
  verified_at: Date | null
  updated_at: Date
}

export const Phones = mongoose.model<Phone>(
  'Phones',
  new Schema<Phone>(
    {
      _id: { type: String, required: true },
      phone_number: { type: String, required: true },
      phone_hash: { type: String, required: true },
      verified: { type: Boolean, required: true },
      verified_at: { type: Date, default: null },
      updated_at: { type: Date, required: true },
    },
    { collection: 'phones', versionKey: false },
  ).index({ phone_number: 1 }, { unique: true, partialFilterExpression: { verified: true } }),
)
