import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { runStates } from '#shared/api/agents/agent-runs'
import type { Citation, CutShort, FrameBody, RunTool, Scheduling, WebSource } from '#shared/api/agents/run-frames'

export type RunState = (typeof runStates)[number]

/** The place of deleted conversations. */
export const forgottenPlace = 'forgotten'

/** A question to an agent, and its outcome. */
export interface StoredRun {
  _id: string
  agent_id: string
  /** The asker. */
  account: string
  /** Its conversation: `chat`, or one that a domain names. */
  place: string
  /** The named session, if any. */
  session?: string
  /** The first question that this one replaces, with all behind it. */
  replaces?: string
  /** The asker's key, unique per account. */
  client_run_id: string
  user_message_id: string
  message_id: string
  message: string
  state: RunState
  /** The node that works on it. */
  node: string
  /** The account that requested its stop, if any. */
  cancelled_by: string | null
  /** The node that should stop it, if requested. */
  stop_at?: string
  /** The answer, or its written part; empty while it runs. */
  content: string
  /** The node that should send the answer to its room; absent once it was sent. */
  to_say?: string
  error_code: string | null
  citations: Citation[]
  /** Absent in answers without web sources. */
  sources?: WebSource[]
  /** Absent in older answers. */
  tools?: RunTool[]
  scheduling: Scheduling | null
  /** How the asker likes the answer, if said. */
  rating?: 'up' | 'down'
  /** Absent in whole answers. */
  cut_short?: CutShort
  input_tokens: number | null
  output_tokens: number | null
  milliseconds: number | null
  created_at: Date
  ended_at: Date | null
}

const amount = { type: Number, default: null } as const

export const Runs = defineModel<StoredRun>(
  'Runs',
  {
    shares: [
      { owner: 'account', becomes: 'erase', hides: ['node', 'stop_at', 'to_say'] },
      { owner: 'cancelled_by', becomes: 'unlink', archive: false },
    ],
    archive: 'agents',
  },
  new Schema<StoredRun>(
    {
      _id: required,
      agent_id: required,
      account: required,
      place: required,
      session: { type: String },
      replaces: { type: String },
      client_run_id: required,
      user_message_id: required,
      message_id: required,
      message: { type: String, default: '' },
      state: required,
      node: required,
      cancelled_by: optional,
      stop_at: { type: String },
      to_say: { type: String },
      content: { type: String, default: '' },
      error_code: optional,
      citations: { type: Schema.Types.Mixed, default: [] },
      sources: { type: Schema.Types.Mixed },
      tools: { type: Schema.Types.Mixed },
      scheduling: { type: Schema.Types.Mixed, default: null },
      rating: { type: String },
      cut_short: { type: String },
      input_tokens: amount,
      output_tokens: amount,
      milliseconds: amount,
      created_at: { type: Date, required: true },
      ended_at: { type: Date, default: null },
    } as object,
    { collection: 'runs', versionKey: false, minimize: false },
  )
    .index({ account: 1, client_run_id: 1 }, { unique: true })
    .index({ agent_id: 1, account: 1, place: 1, _id: 1 })
    .index({ agent_id: 1, place: 1, _id: 1 })
    .index({ place: 1, client_run_id: 1 })
    .index({ account: 1, state: 1 })
    .index({ agent_id: 1, state: 1 })
    .index({ state: 1, node: 1 })
    .index({ agent_id: 1, rating: 1 }, { partialFilterExpression: { rating: { $exists: true } } })
    .index({ stop_at: 1 }, { partialFilterExpression: { stop_at: { $exists: true } } })
    .index({ to_say: 1 }, { partialFilterExpression: { to_say: { $exists: true } } }),
)

/** A conversation of an account with an agent, in their list. */
export interface StoredConversation {
  /** `account agent session` */
  _id: string
  account: string
  agent_id: string
  session: string
  title: string
  created_at: Date
  /** The time of its last question. */
  asked_at: Date
}

export const Conversations = defineModel<StoredConversation>(
  'AgentConversations',
  { shares: [{ owner: 'account', becomes: 'erase' }], archive: 'agents' },
  new Schema<StoredConversation>(
    {
      _id: required,
      account: required,
      agent_id: required,
      session: required,
      title: required,
      created_at: { type: Date, required: true },
      asked_at: { type: Date, required: true },
    },
    { collection: 'agent_conversations', versionKey: false },
  )
    .index({ account: 1, agent_id: 1, asked_at: -1, _id: -1 })
    .index({ agent_id: 1 }),
)

/** Open questions of an account, or to one agent, in one document, so that races cannot exceed the limit. */
export interface StoredPlaces {
  /** The account, followed by the agent if it is about one. */
  _id: string
  /** `key` is the asker's; `at` is the time of the taking. */
  open: { run: string; key: string; at: Date }[]
  /** Their number. */
  count: number
  expires_at: Date
}

export const OpenPlaces = defineModel<StoredPlaces>(
  'OpenPlaces',
  { shares: [{ owner: '_id', becomes: 'erase', at: 'first word' }], archive: { never: 'It is of answers under way.' } },
  new Schema<StoredPlaces>(
    {
      _id: required,
      open: { type: Schema.Types.Mixed, required: true },
      count: { type: Number, required: true },
      expires_at: { type: Date, required: true },
    } as object,
    { collection: 'open_places', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

export interface StoredFrames {
  /** The run and the first idx: the first writer has the position. */
  _id: string
  run_id: string
  from_idx: number
  to_idx: number
  node: string
  frames: FrameBody[]
  expires_at: Date
}

export const RunFrames = defineModel<StoredFrames>(
  'RunFrames',
  {
    shares: [{ owner: 'run_id', becomes: 'erase', through: 'Runs' }],
    archive: { never: 'It is an answer in parts, which the archive has whole.' },
  },
  new Schema<StoredFrames>(
    {
      _id: required,
      run_id: required,
      from_idx: { type: Number, required: true },
      to_idx: { type: Number, required: true },
      node: required,
      frames: { type: Schema.Types.Mixed, required: true },
      expires_at: { type: Date, required: true },
    } as object,
    { collection: 'run_frames', versionKey: false, minimize: false },
  )
    .index({ run_id: 1, to_idx: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
