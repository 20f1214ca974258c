import mongoose, { Schema } from 'mongoose'

/** Answers kept so that a repeat gives the first one. */
export const Answers = mongoose.model(
  'Answers',
  new Schema(
    {
      /** `account operation key`. */
      _id: { type: String, required: true },
      input_hash: { type: String, required: true },
      answer: { type: Schema.Types.Mixed },
      expires_at: { type: Date, required: true },
    },
    { collection: 'answers', versionKey: false, minimize: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

/** One line for each audited call, refused ones too. */
export const AuditLines = mongoose.model(
  'AuditLines',
  new Schema(
    {
      _id: { type: String, required: true },
      operation: { type: String, required: true },
      actor: { type: String, default: null },
      outcome: { type: String, required: true },
      request_id: { type: String, required: true },
      at: { type: Date, required: true },
    },
    { collection: 'auditLines', versionKey: false },
  ).index({ actor: 1, at: -1 }),
)
