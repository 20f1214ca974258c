import mongoose, { Schema } from 'mongoose'

/** Calls that are done once, and their answers, kept so that a repeat gives the first one. */
export const Answers = mongoose.model(
  'Answers',
  new Schema(
    {
      /** `account operation key`. */
      _id: { type: String, required: true },
      input_hash: { type: String, required: true },
      /** What it creates is named by this, however often it is tried. */
      creation_id: { type: String, required: true },
      /** Who does it now, and until when nobody else may. */
      run: { type: String, required: true },
      leased_until: { type: Date, required: true },
      /** Sealed JSON, as it may carry secrets; absent until there is one. */
      answer: { type: String },
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

export interface StoredJob {
  _id: string
  kind: string
  /** Sealed, as it may carry codes and addresses; gone once the job is over. */
  payload?: string
  state: 'open' | 'done' | 'failed'
  /** Runs that were begun. */
  attempts: number
  /** When it may be run next; pushed ahead while somebody runs it. */
  due_at: Date
  /** The run that holds it now; null between runs. */
  run: string | null
  error: string | null
  created_at: Date
  finished_at: Date | null
  /** When the row of a job that is over is forgotten. */
  expires_at?: Date
}

/** Work to be done after the answer, stored before it. */
export const StoredJobs = mongoose.model<StoredJob>(
  'StoredJobs',
  new Schema<StoredJob>(
    {
      _id: { type: String, required: true },
      kind: { type: String, required: true },
      payload: { type: String },
      state: { type: String, required: true },
      attempts: { type: Number, required: true },
      due_at: { type: Date, required: true },
      run: { type: String, default: null },
      error: { type: String, default: null },
      created_at: { type: Date, required: true },
      finished_at: { type: Date, default: null },
      expires_at: { type: Date },
    },
    { collection: 'jobs', versionKey: false },
  )
    .index({ state: 1, due_at: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
