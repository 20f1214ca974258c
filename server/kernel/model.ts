import mongoose, { type InferSchemaType, type Model, Schema } from 'mongoose'
import type { OwnData } from './own-data.ts'

/** What each model says of its rows, by the name of the model. */
const declared = new Map<string, OwnData>()

/** Makes a model. It says whose its rows are, and what becomes of them when an account is erased. */
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

/** Says so of a model whose maker knows nothing of people. */
export const declareOwnData = (model: string, own: OwnData): void => void declared.set(model, own)

/** Every model with what it says of its rows; null where it says nothing. */
export const declaredModels = () =>
  Object.values(mongoose.models).map((model) => ({ model, own: declared.get(model.modelName) ?? null }))

/** Calls that are done once, and their answers, kept so that a repeat gives the first one. */
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
    ],
    archive: 'accounts',
  },
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
  )
    .index({ actor: 1, at: -1 })
    .index({ at: 1 }),
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
