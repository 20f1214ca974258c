import { Schema } from 'mongoose'
import { defineModel } from '#server/kernel/store/model'

interface SpentProof {
  /** SHA-256 of the proof. */
  _id: string
  at: Date
}

export const SpentProofs = defineModel<SpentProof>(
  'SpentProofs',
  "nobody's",
  new Schema<SpentProof>(
    { _id: { type: String, required: true }, at: { type: Date, required: true } },
    { collection: 'spentProofs', versionKey: false },
  ),
)

/** The issuer to which a partner's name belongs. */
interface PartnerName {
  _id: string
  issuer: string
}

export const PartnerNames = defineModel<PartnerName>(
  'PartnerNames',
  {
    shares: [
      { owner: null, becomes: 'keep', reason: 'A name of a partner stays that of one person.', days: 'permanently' },
    ],
    archive: { never: 'It names the partner alone.' },
  },
  new Schema<PartnerName>(
    { _id: { type: String, required: true }, issuer: { type: String, required: true } },
    { collection: 'partnerNames', versionKey: false },
  ),
)
