import { type IndexDefinition, type IndexOptions, type Model, Schema, type SchemaDefinition } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { declareOwnData, defineModel } from '#server/kernel/store/model'
import type { OwnData } from '#server/kernel/store/own-data'
import type { Fact } from '#server/log/types'
import type {
  BanFact,
  EpochFact,
  MemberFact,
  ModeratorFact,
  MuteFact,
  ReactedFact,
  RoomFact,
  WordFact,
} from './facts.ts'

const flag = { type: Boolean, default: false } as const
const seq = { type: Number, required: true, default: 0 } as const

export type AnyModel = Model<unknown>

interface FollowedRecord {
  _id: string
  room: string
  /** The last event applied to it. */
  applied_seq: number
  is_active: boolean
}

/** A record that follows from a room's log; `_id` is the room and its subject. */
function followedModel<Fields>(
  name: string,
  collection: string,
  own: OwnData<FollowedRecord & Fields>,
  fields: { [Name in keyof Fields]: object },
  indexes: [IndexDefinition, IndexOptions?][] = [],
): Model<FollowedRecord & Fields> {
  const shape = {
    _id: required,
    room: required,
    applied_seq: seq,
    is_active: { type: Boolean, default: true },
    ...fields,
  }
  const schema = new Schema(shape as SchemaDefinition, { collection, versionKey: false, id: false, minimize: false })
  for (const [index, options] of indexes) schema.index(index, options)
  return defineModel(name, own as OwnData, schema) as unknown as Model<FollowedRecord & Fields>
}

const roomFields = {
  name: required,
  description: optional,
  topic: optional,
  emoji: required,
  icon_url: optional,
  slug: { type: String },
  category: required,
  creator_address: optional,
  owner_address: optional,
  is_official: flag,
  access_level: { type: String, default: 'public' },
  messaging_type: { type: String, default: 'standard' },
  gate: { type: Schema.Types.Mixed, default: null },
  p2p_content_topic: optional,
  member_count: { type: Number, default: 0 },
  is_active: { type: Boolean, default: true },
  created_at: required,
  updated_at: required,
} satisfies Record<keyof RoomFact, object>

const roomSchema = new Schema(
  {
    /** The room's key. */
    _id: required,
    type: required,
    id: optional,
    ...roomFields,
    /** Names of channels are unique; other rooms may share one. */
    unique_name: { type: String },
    /** The place that only this room has. */
    place_id: { type: String },
    /** The cell of the place in the grid of `cellOf`. */
    place_cell: { type: String },
    /** Search terms of name and description; absent in rooms of older versions. */
    terms: { type: [String], default: undefined },
    /** The skeleton version of `terms` and `unique_name`. */
    skeleton_version: { type: Number },
    /** The two people of a direct room. */
    peers: { type: [String], default: [] },
    applied_seq: seq,
    /** The last re-check of members at the gate; absent without a gate. */
    gate_checked_at: { type: String },
    /** The sealed shared key of a p2p room, which no row contains. */
    p2p_key: { type: String },
    /** People who are still to be admitted; absent after all are. */
    founding: { type: { members: [String], _id: false } },
  },
  { collection: 'rooms', versionKey: false, id: false },
)
roomSchema.index({ slug: 1 }, { unique: true, partialFilterExpression: { slug: { $exists: true } } })
roomSchema.index({ unique_name: 1 }, { unique: true, partialFilterExpression: { unique_name: { $exists: true } } })
roomSchema.index({ created_at: 1 }, { partialFilterExpression: { founding: { $exists: true } } })
roomSchema.index({ gate_checked_at: 1 }, { partialFilterExpression: { gate_checked_at: { $exists: true } } })
roomSchema.index({ type: 1, is_active: 1, access_level: 1, is_official: -1, member_count: -1, _id: 1 })
roomSchema.index({ type: 1, is_active: 1, access_level: 1, member_count: -1, _id: 1 })
roomSchema.index({ type: 1, terms: 1 })
roomSchema.index({ type: 1, skeleton_version: 1 })
roomSchema.index({ icon_url: 1 })
roomSchema.index({ owner_address: 1 })
for (const subject of ['gate.event_id', 'gate.collection_id'])
  roomSchema.index({ [subject]: 1 }, { unique: true, partialFilterExpression: { [subject]: { $exists: true } } })
roomSchema.index({ place_id: 1 }, { unique: true, partialFilterExpression: { place_id: { $exists: true } } })
roomSchema.index({ 'gate.place_id': 1 }, { partialFilterExpression: { 'gate.place_id': { $exists: true } } })
roomSchema.index(
  { place_cell: 1, type: 1, is_active: 1, access_level: 1, member_count: -1, _id: 1 },
  { partialFilterExpression: { place_cell: { $exists: true } } },
)
export const Rooms = defineModel(
  'Rooms',
  {
    shares: [
      {
        owner: 'owner_address',
        becomes: 'hand over',
        rule: 'The oldest moderator, then the oldest member; without either the room is archived.',
      },
      { owner: 'creator_address', becomes: 'unlink', archive: false },
      { owner: 'peers', becomes: 'unlink', archive: false },
      { owner: 'founding.members', becomes: 'unlink', archive: false },
      // The address of a picture has the account that uploaded it.
      { owner: 'icon_url', becomes: 'unlink', at: 'inside', archive: false },
    ],
    archive: 'rooms',
    secret: ['p2p_key'],
    stays: [
      'name',
      'description',
      'topic',
      'slug',
      'unique_name',
      'gate',
      'p2p_content_topic',
      'place_id',
      'place_cell',
      'terms',
      'category',
    ],
  },
  roomSchema,
)

export const Members = followedModel<MemberFact>(
  'Members',
  'members',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'rooms' },
  { user_address: required, role: required, joined_at: required, joined_seq: Number, joined_n: Number },
  [
    [{ room: 1, is_active: 1, joined_at: -1, _id: 1 }],
    [{ room: 1, is_active: 1, role: 1 }],
    [{ user_address: 1, is_active: 1 }],
  ],
)

export const Bans = followedModel<BanFact>(
  'Bans',
  'bans',
  {
    shares: [
      { owner: 'user_address', becomes: 'erase', hides: ['banned_by'] },
      { owner: 'banned_by', becomes: 'unlink', archive: false },
    ],
    archive: 'moderation',
  },
  {
    ban_id: required,
    user_address: required,
    banned_by: required,
    reason: optional,
    banned_at: required,
    banned_until: optional,
  },
  [[{ room: 1, is_active: 1, banned_at: -1 }], [{ user_address: 1 }]],
)

export const Mutes = followedModel<MuteFact>(
  'Mutes',
  'moderation_mutes',
  {
    shares: [
      { owner: 'user_address', becomes: 'erase', hides: ['muted_by'] },
      { owner: 'muted_by', becomes: 'unlink', archive: false },
    ],
    archive: 'moderation',
  },
  {
    mute_id: required,
    user_address: required,
    muted_by: required,
    reason: optional,
    muted_at: required,
    muted_until: optional,
  },
  [[{ room: 1, is_active: 1, muted_at: -1 }], [{ user_address: 1 }]],
)

export const Moderators = followedModel<ModeratorFact>(
  'Moderators',
  'moderators',
  {
    shares: [
      { owner: 'user_address', becomes: 'erase', hides: ['notes', 'granted_by'] },
      { owner: 'granted_by', becomes: 'unlink', archive: false },
    ],
    archive: 'moderation',
  },
  {
    moderator_id: required,
    user_address: required,
    granted_by: required,
    granted_at: required,
    can_pin: flag,
    can_delete: flag,
    can_mute: flag,
    can_manage_mods: flag,
    notes: optional,
    granted_seq: Number,
  },
  [[{ room: 1, is_active: 1, granted_at: -1 }], [{ user_address: 1, is_active: 1 }]],
)

export const Words = followedModel<WordFact>(
  'Words',
  'blocked_words',
  {
    shares: [{ owner: 'added_by', becomes: 'unlink' }],
    archive: 'moderation',
    stays: ['word'],
  },
  {
    word_id: required,
    word: required,
    action: required,
    is_regex: flag,
    as_written: { type: Boolean },
    added_by: required,
    added_at: required,
    cost: { type: Number, default: 0 },
    quarantined: optional,
  },
  [[{ room: 1, is_active: 1, added_at: -1 }], [{ word_id: 1 }], [{ added_by: 1 }]],
)

/** Facts with a single value: rules, pins, purges, blocks, invitations. */
export const RoomFacts = followedModel<{ value: Fact; is_open?: true; done_to?: number; next_below?: number }>(
  'RoomFacts',
  'room_facts',
  {
    shares: [
      { owner: 'value', becomes: 'unlink', at: 'inside' },
      { owner: '_id', becomes: 'unlink', at: 'inside' },
    ],
    archive: { never: 'It follows from the log, of which the archive has the own acts and invitations.' },
    secret: ['value'],
  },
  {
    value: Schema.Types.Mixed,
    // Of purges: true while texts of them are stored; until which `to_seq` none is; the ordinal below which others are.
    is_open: { type: Boolean },
    done_to: { type: Number },
    next_below: { type: Number },
  },
  [[{ 'value.token_hash': 1 }], [{ is_open: 1 }, { partialFilterExpression: { is_open: true } }]],
)

export const Polls = followedModel<{ poll_id: string; poll: Fact; created_at: string }>(
  'Polls',
  'polls',
  {
    shares: [{ owner: 'poll', becomes: 'unlink', at: 'inside' }],
    archive: { never: 'It is with its message, which the archive has.' },
  },
  { poll_id: required, poll: Schema.Types.Mixed, created_at: required },
  [[{ room: 1, is_active: 1, created_at: -1 }]],
)
export const Votes = followedModel<{ poll_id: string; user_address: string; options: number[] }>(
  'Votes',
  'votes',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'polls' },
  { poll_id: required, user_address: required, options: { type: [Number], default: [] } },
  [[{ poll_id: 1, is_active: 1 }], [{ user_address: 1 }]],
)

export const Reactions = followedModel<ReactedFact & { message_id: string; user_address: string }>(
  'Reactions',
  'reactions',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'messages' },
  { message_id: required, user_address: required, emojis: { type: [Schema.Types.Mixed], default: [] } },
  [[{ message_id: 1, is_active: 1 }], [{ user_address: 1 }]],
)

/** One row for each mentioned person. */
export const Mentions = followedModel<{ user_address: string; seq: number }>(
  'Mentions',
  'mentions',
  {
    shares: [{ owner: 'user_address', becomes: 'erase' }],
    archive: { never: 'It follows from the messages of others.' },
  },
  { user_address: required, seq: { type: Number, required: true } },
  [[{ room: 1, user_address: 1, seq: 1 }]],
)

/** A message that mentions agents, until each of its answers has begun. */
export interface StoredQuestion {
  /** The message. */
  _id: string
  room: string
  /** The time of sending. */
  at: Date
  /** The time from which any node may begin its answers; absent if there are none left. */
  due_at?: Date
}

export const Questions = defineModel<StoredQuestion>(
  'Questions',
  "nobody's",
  new Schema<StoredQuestion>(
    {
      _id: required,
      room: required,
      at: { type: Date, required: true },
      due_at: { type: Date },
    },
    { collection: 'agent_questions', versionKey: false },
  )
    .index({ due_at: 1 }, { partialFilterExpression: { due_at: { $exists: true } } })
    .index({ at: 1 }, { expireAfterSeconds: 86_400 }),
)

/** Keys of direct conversations, sealed to devices. */
export const Epochs = followedModel<EpochFact>(
  'Epochs',
  'dm_epochs',
  {
    shares: [{ owner: 'lots', becomes: 'erase', at: 'inside' }],
    archive: { never: 'It is a key, sealed to devices.' },
    secret: ['lots'],
  },
  {
    epoch_id: required,
    seq: { type: Number, required: true },
    at: { type: Number, required: true },
    lots: { type: [Schema.Types.Mixed], default: [] },
  },
  [[{ room: 1, seq: -1 }]],
)

/** Messages that a blocked word with the action `flag` marked for moderators. */
export const Flags = followedModel<{
  message_id: string
  user_address: string
  words: string[]
  content: string
  flagged_at: string
  state?: string
  claimed_by?: string | null
  decided_by?: string | null
}>(
  'Flags',
  'flags',
  {
    shares: [
      {
        owner: 'user_address',
        becomes: 'keep',
        reason: 'Moderators decide on the message.',
        days: 90,
        renames: ['content'],
      },
      { owner: 'claimed_by', becomes: 'unlink' },
      { owner: 'decided_by', becomes: 'unlink' },
    ],
    archive: { never: 'It is a note about a message, which the archive has.' },
    stays: ['words', 'content', 'state'],
  },
  {
    message_id: required,
    user_address: required,
    words: { type: [String], default: [] },
    content: required,
    flagged_at: required,
    state: { type: String, default: 'pending' },
    claimed_by: optional,
    decided_by: { type: String },
  },
  [[{ room: 1, flagged_at: -1 }], [{ flagged_at: -1 }]],
)

const searchBlockSchema = new Schema(
  {
    /** The room and the number of the block. */
    _id: required,
    room: required,
    segment: { type: Number, required: true },
    block: { type: Number, required: true },
    terms: { type: [String], required: true },
    is_ready: flag,
    /** The writer of the terms; a deletion of words clears the claim. */
    claim: optional,
  },
  { collection: 'search_blocks', versionKey: false, id: false },
)
searchBlockSchema.index({ room: 1, segment: 1, terms: 1 })
/** The search terms of a block of messages. */
export const SearchBlocks = defineModel(
  'SearchBlocks',
  {
    shares: [],
    archive: { never: 'It is an index of messages, and loses their words with them.' },
    secret: ['claim'],
    stays: ['terms'],
  },
  searchBlockSchema,
)

/** The number of indexed blocks of a room. `_id` is the room and the skeleton version, in older rows only the room. */
export const SearchMarks = defineModel(
  'SearchMarks',
  "nobody's",
  new Schema(
    { _id: required, blocks: { type: Number, required: true } },
    { collection: 'search_marks', versionKey: false, id: false },
  ),
)

/** The read mark of an account in a room. */
export const Reads = defineModel(
  'Reads',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'inbox' },
  new Schema(
    {
      _id: required,
      room: required,
      user_address: required,
      seq: { type: Number, required: true },
      n: { type: Number, required: true },
    },
    { collection: 'reads', versionKey: false, id: false },
  ).index({ user_address: 1 }),
)

/** Used vectors of direct conversations: `_id` is the hash of epoch, vector and room, `content` that of the message. */
export const DmVectors = defineModel<{ _id: string; content: string }>(
  'DmVectors',
  { shares: [], archive: { never: 'It holds hashes of sealed messages.' }, stays: ['content'] },
  new Schema<{ _id: string; content: string }>(
    { _id: required, content: required },
    { collection: 'dm_vectors', versionKey: false },
  ),
)

// The log has no notion of people, so the personal data of its rows are declared here.
declareOwnData('RoomEvents', {
  shares: [
    { owner: 'sender', becomes: 'unlink' },
    { owner: 'target', becomes: 'unlink', archive: false },
    { owner: 'body', at: 'inside', becomes: 'unlink', archive: false },
  ],
  archive: { never: 'Messages are in `messages/`, as they are read.' },
  secret: ['chain', 'chained', 'erased'],
  // Messages of the person are removed where they want that; reasons are of moderators.
  stays: ['reason'],
})
declareOwnData('RoomHeads', "nobody's")
declareOwnData('RoomLeases', "nobody's")
