import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** Conversations about which an account gets no notifications. */
export const ConversationMutes = defineModel(
  'ConversationMutes',
  {
    shares: [
      { owner: 'user_address', becomes: 'erase' },
      { owner: 'conversation_id', becomes: 'erase', archive: false },
    ],
    archive: 'social',
  },
  new Schema(
    {
      /** `account type conversation` */
      _id: required,
      mute_id: required,
      user_address: required,
      conversation_type: required,
      conversation_id: required,
      muted_until: optional,
      created_at: required,
      updated_at: required,
    },
    { collection: 'conversation_mutes', versionKey: false, id: false },
  ).index({ user_address: 1, updated_at: -1 }),
)

export const Reports = defineModel(
  'Reports',
  {
    shares: [
      {
        owner: 'reporter_address',
        becomes: 'unlink',
        renames: ['subject', 'evidence_key', 'file_keys', 'description'],
        hides: [
          'claimed_by',
          'admin_notes',
          'reviewed_by',
          'room_status',
          'room_decided_by',
          'room_decided_at',
          'room_notes',
        ],
      },
      {
        owner: 'reported_address',
        becomes: 'keep',
        reason: 'Moderators decide on the report.',
        days: 90,
        renames: ['subject', 'message_content'],
        archive: false,
      },
      { owner: 'message_content_by', becomes: 'unlink', renames: ['message_content'], archive: false },
      { owner: 'claimed_by', becomes: 'unlink', archive: false },
      { owner: 'reviewed_by', becomes: 'unlink', archive: false },
      { owner: 'room_decided_by', becomes: 'unlink', archive: false },
    ],
    archive: 'social',
    secret: ['evidence_key', 'file_keys', 'subject'],
    stays: ['description', 'message_content', 'admin_notes', 'room_notes', 'conversation_id', 'message_id'],
  },
  new Schema(
    {
      _id: required,
      /** `reporter reported type`: only its newest row matters. */
      subject: required,
      reporter_address: required,
      reported_address: required,
      report_type: required,
      description: optional,
      conversation_type: optional,
      conversation_id: optional,
      message_id: optional,
      message_content: optional,
      message_content_by: String,
      /** The key of the message's media, until the report is decided. */
      evidence_key: String,
      /** The keys of bug screenshots in the description, until the report is decided. */
      file_keys: { type: [String], default: undefined },
      is_as_sent: Boolean,
      status: { type: String, default: 'pending' },
      claimed_by: optional,
      admin_notes: optional,
      reviewed_at: optional,
      reviewed_by: optional,
      /** The decision of the room's moderators, for themselves. */
      room_status: String,
      room_decided_by: String,
      room_decided_at: String,
      room_notes: String,
      created_at: required,
    },
    { collection: 'reports', versionKey: false, id: false },
  )
    .index({ status: 1, created_at: -1 })
    .index({ conversation_type: 1, conversation_id: 1, status: 1, created_at: -1 })
    .index({ created_at: -1 })
    .index({ reporter_address: 1, created_at: -1 })
    .index({ evidence_key: 1 }, { partialFilterExpression: { evidence_key: { $exists: true } } })
    .index({ file_keys: 1 }, { partialFilterExpression: { file_keys: { $exists: true } } }),
)

/** The last report of this kind by the same person, which prevents a second within a day. */
export const ReportTurns = defineModel(
  'ReportTurns',
  { shares: [{ owner: '_id', becomes: 'erase', at: 'inside' }], archive: { never: 'It lapses within a day.' } },
  new Schema(
    { _id: required, at: { type: Number, required: true }, expires_at: { type: Date, required: true } },
    { collection: 'report_turns', versionKey: false, id: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
