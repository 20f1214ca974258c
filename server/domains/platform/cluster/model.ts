import { Schema } from 'mongoose'
import { defineModel } from '#server/kernel/store/model'

const nodeSchema = new Schema(
  {
    _id: { type: String, required: true },
    host: { type: String, required: true },
    process: { type: Number, required: true },
    version: { type: String, required: true },
    started_at: { type: Date, required: true },
    seen_at: { type: Date, required: true },
    connections: { type: Number, required: true },
    rooms: { type: Number, required: true },
    messages_per_second: { type: Number, required: true },
    lag_ms: { type: Number, required: true },
    gaps_healed: { type: Number, required: true },
    loop_lag_ms: { type: Number, required: true },
    memory_mb: { type: Number, required: true },
    degraded: { type: [String], required: true },
  },
  { collection: 'nodes', versionKey: false },
)
nodeSchema.index({ seen_at: 1 }, { expireAfterSeconds: 600 })

/** The last heartbeat of each node; `_id` is the node. */
export const Nodes = defineModel('Nodes', "nobody's", nodeSchema)
