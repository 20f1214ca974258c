import mongoose, { Schema } from 'mongoose'

/** An agent that answers in a room. */
export interface StoredMembership {
  /** The agent and the room's key. */
  _id: string
  id: string
  agent_id: string
  room: string
  created_at: Date
  created_by: string
}

const required = { type: String, required: true } as const

export const AgentMemberships = mongoose.model<StoredMembership>(
  'AgentMemberships',
  new Schema<StoredMembership>(
    {
      _id: required,
      id: required,
      agent_id: required,
      room: required,
      created_at: { type: Date, required: true },
      created_by: required,
    } as object,
    { collection: 'agent_memberships', versionKey: false, id: false },
  )
    .index({ room: 1 })
    .index({ agent_id: 1 }),
)
