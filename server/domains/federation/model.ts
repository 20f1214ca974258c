import mongoose, { Schema } from 'mongoose'

export interface SpentProof {
  /** SHA-256 of the proof. */
  _id: string
  at: Date
}

export const SpentProofs = mongoose.model<SpentProof>(
  'SpentProofs',
  new Schema<SpentProof>(
    { _id: { type: String, required: true }, at: { type: Date, required: true } },
    { collection: 'spentProofs', versionKey: false },
  ),
)
