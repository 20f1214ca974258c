import mongoose, { type InferSchemaType, type Model, Schema } from 'mongoose'
import type { OwnData } from './own-data.ts'

/** The declaration of own data by the name of the model. */
const declared = new Map<string, OwnData>()

/** Defines a model with the owners of its rows and their fate when an account is erased. */
export function defineModel<Row>(name: string, own: OwnData<Row>, schema: Schema<Row>): Model<Row>
export function defineModel<Of extends Schema>(
  name: string,
  own: OwnData<InferSchemaType<Of>>,
  schema: Of,
): ReturnType<typeof mongoose.model<Of>>
export function defineModel(name: string, own: OwnData, schema: Schema): unknown {
  declareOwnData(name, own)
  return mongoose.model(name, schema)
}

/** Declares own data for a model that was defined elsewhere. */
export const declareOwnData = (model: string, own: OwnData): void => void declared.set(model, own)

/** All models with their declarations; null for a missing one. */
export const declaredModels = () =>
  Object.values(mongoose.models).map((model) => ({ model, own: declared.get(model.modelName) ?? null }))

/** Calls that are executed once, with their answers, which repeats get. */
export const Answers = defineModel(
  'Answers',
  {
    shares: [{ owner: '_id', becomes: 'erase', at: 'first word' }],
    archive: { never: 'It repeats what other rows hold, for a day.' },
  },
  new Schema(
    {
      /** `account operation key`. */
      _id: { type: String, required: true },
      input_hash: { type: String, required: true },
      /** The id of the created object, equal at each attempt. */
      creation_id: { type: String, required: true },
      /** The run that holds the lease, and its expiry. */
      run: { type: String, required: true },
      leased_until: { type: Date, required: true },
      /** Sealed JSON, because it may contain secrets; absent until the call succeeds. */
      answer: { type: String },
      expires_at: { type: Date, required: true },
    },
    { collection: 'answers', versionKey: false, minimize: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

/** One line for each audited call, including refused ones. */
export const AuditLines = defineModel(
  'AuditLines',
  {
    shares: [
      {
        owner: 'actor',
        becomes: 'keep',
        reason: 'The audit log shows who changed this installation.',
        days: 365,
      },
      { owner: 'target', becomes: 'unlink', archive: false },
    ],
    archive: 'accounts',
    secret: ['reason'],
  },
  new Schema(
    {
      _id: { type: String, required: true },
      operation: { type: String, required: true },
      actor: { type: String, default: null },
      outcome: { type: String, required: true },
      request_id: { type: String, required: true },
      at: { type: Date, required: true },
      // Of an erasure: how many rows of which models.
      counts: { type: Schema.Types.Mixed },
      // Of an act of an admin: on whom or which room, and why.
      target: { type: String },
      reason: { type: String },
    },
    { collection: 'auditLines', versionKey: false },
  )
    .index({ actor: 1, at: -1 })
    .index({ target: 1 }, { partialFilterExpression: { target: { $exists: true } } })
    .index({ at: 1 }),
)

export interface StoredJob {
  _id: string
  kind: string
  /** Sealed, because it may contain codes and addresses; removed when the job ends. */
  payload?: string
  state: 'open' | 'done' | 'failed'
  /** Runs that were started. */
  attempts: number
  /** The next time at which it may run; moved ahead during a run. */
  due_at: Date
  /** The run that holds the lease; null between runs. */
  run: string | null
  error: string | null
  created_at: Date
  finished_at: Date | null
  /** The time at which the row of an ended job is deleted. */
  expires_at?: Date
}

/** Work after the answer, stored before it. */
export const StoredJobs = defineModel<StoredJob>(
  'StoredJobs',
  {
    shares: [
      {
        owner: null,
        becomes: 'keep',
        reason: 'The work that was requested is done, also for an erased account.',
        days: 14,
      },
    ],
    archive: { never: 'It is work under way, sealed.' },
    secret: ['payload'],
  },
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
