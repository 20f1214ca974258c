import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

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

export const AgentMemberships = defineModel<StoredMembership>(
  'AgentMemberships',
  {
    shares: [
      { owner: 'agent_id', becomes: 'erase', through: 'Agents' },
      { owner: 'created_by', becomes: 'unlink', archive: false },
    ],
    archive: 'agents',
  },
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
