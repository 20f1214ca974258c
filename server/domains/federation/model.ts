import mongoose, { Schema } from 'mongoose'

interface SpentProof {
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

/** The issuer whose user a name of a partner is. */
interface PartnerName {
  _id: string
  issuer: string
}

export const PartnerNames = mongoose.model<PartnerName>(
  'PartnerNames',
  new Schema<PartnerName>(
    { _id: { type: String, required: true }, issuer: { type: String, required: true } },
    { collection: 'partnerNames', versionKey: false },
  ),
)
