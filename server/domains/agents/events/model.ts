import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'
import type { AgentEvent } from '#shared/api/events-of-agents'

export interface StoredEvent extends Omit<AgentEvent, 'id' | 'created_at'> {
  _id: string
  /** The name in lower case: no two events of an agent have the same on one day. */
  key: string
  created_at: Date
}

const flag = { type: Boolean, required: true } as const

export const Events = defineModel<StoredEvent>(
  'AgentEvents',
  {
    shares: [{ owner: 'agent_id', becomes: 'erase', through: 'Agents' }],
    archive: 'agents',
    stays: ['address', 'key'],
  },
  new Schema<StoredEvent>(
    {
      _id: required,
      agent_id: required,
      key: required,
      knowledge_id: optional,
      name: required,
      description: optional,
      event_type: required,
      event_date: required,
      start_time: optional,
      end_time: optional,
      is_multi_day: flag,
      end_date: optional,
      venue: optional,
      address: optional,
      organizer: optional,
      organizer_logo_url: optional,
      event_url: optional,
      rsvp_url: optional,
      source: required,
      source_url: optional,
      is_featured: flag,
      is_verified: flag,
      tags: { type: [String], default: null },
      created_at: { type: Date, required: true },
    },
    { collection: 'agent_events', versionKey: false },
  ).index({ agent_id: 1, event_date: 1, key: 1 }, { unique: true }),
)
