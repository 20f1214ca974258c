import { model, Schema } from 'mongoose'

const eventSchema = new Schema(
  {
    _id: { type: String, required: true },
    // Absent in rows of version 1.
    v: Number,
    room: { type: String, required: true },
    seq: { type: Number, required: true },
    epoch: { type: String, required: true },
    type: { type: String, required: true },
    // Messages alone have one, so that the partial indexes hold nothing else.
    n: Number,
    total: { type: Number, required: true },
    sender: { type: String, required: true },
    cid: { type: String, required: true },
    body: { type: Schema.Types.Mixed, required: true },
    target: String,
    until: Number,
    reason: String,
    at: { type: Number, required: true },
    chain: String,
    // True or absent, so that its partial indexes hold no other rows.
    chained: Boolean,
    // On entries from which a person was erased.
    erased: String,
    applied_seq: { type: Number, required: true },
  },
  { collection: 'room_events', minimize: false, versionKey: false },
)
eventSchema.index({ room: 1, seq: 1 }, { unique: true })
eventSchema.index({ room: 1, sender: 1, cid: 1 }, { unique: true })
eventSchema.index({ room: 1, n: 1 }, { partialFilterExpression: { n: { $exists: true } } })
eventSchema.index({ room: 1, sender: 1, n: 1 }, { partialFilterExpression: { n: { $exists: true } } })
// Deleted messages alone; all others have null there.
eventSchema.index(
  { room: 1, n: 1, 'body.deleted.at': 1 },
  { partialFilterExpression: { 'body.deleted.at': { $exists: true } } },
)
// Replies alone, by whom they answer.
eventSchema.index(
  { room: 1, 'body.reply_to.sender_address': 1, n: 1 },
  { partialFilterExpression: { 'body.reply_to.sender_address': { $exists: true } } },
)
// Replies alone, by what they answer.
eventSchema.index(
  { room: 1, 'body.reply_to.id': 1, n: 1 },
  { partialFilterExpression: { 'body.reply_to.id': { $exists: true } } },
)
eventSchema.index({ 'body.media': 1 }, { partialFilterExpression: { 'body.media': { $exists: true } } })
eventSchema.index({ chained: 1, room: 1, seq: 1 }, { partialFilterExpression: { chained: true } })
eventSchema.index({ chained: 1, at: 1 }, { partialFilterExpression: { chained: true } })

/** The log of every room: one document per event. */
export const RoomEvents = model('RoomEvents', eventSchema)

const headSchema = new Schema(
  {
    _id: { type: String, required: true },
    epoch: { type: String, required: true },
    seq: { type: Number, required: true },
    total: { type: Number, required: true },
    // The row up to which the log is materialised.
    applied: { type: Number, required: true },
    moved_at: { type: Number, required: true },
  },
  { collection: 'room_heads', versionKey: false },
)
headSchema.index({ moved_at: 1 })

/** The head of each room as last written; `_id` is the room. */
export const RoomHeads = model('RoomHeads', headSchema)

const leaseSchema = new Schema(
  {
    _id: { type: String, required: true },
    room: { type: String, required: true },
    node: { type: String, required: true },
    // The row up to which the node has confirmed.
    applied: { type: Number, required: true },
    // Absent in leases of older versions.
    beat: Number,
    at: { type: Date, required: true },
  },
  { collection: 'room_leases', versionKey: false },
)
leaseSchema.index({ room: 1, at: 1 })
leaseSchema.index({ at: 1 }, { expireAfterSeconds: 60 })

/** The nodes that follow each room, and the rows that they have confirmed. */
export const RoomLeases = model('RoomLeases', leaseSchema)
