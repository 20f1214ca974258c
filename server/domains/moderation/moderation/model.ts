import { Schema } from 'mongoose'
import { later, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** A ban, mute or block that was in force when its person was erased. */
export interface KeptRestriction {
  /** A keyed hash of the person, the kind, and the room or blocker. */
  _id: string
  /** A keyed hash of the account. */
  person: string
  kind: 'ban' | 'mute' | 'block'
  /** The room of a ban or mute. */
  room: string | null
  decided_by: string | null
  /** The account that has blocked the person. */
  blocker: string | null
  /** The end of a ban or mute; null for a permanent one. */
  until: Date | null
}

export const KeptRestrictions = defineModel<KeptRestriction>(
  'KeptRestrictions',
  {
    shares: [
      { owner: null, becomes: 'keep', reason: 'Nobody ends a ban, mute or block by a deletion.', days: 'permanently' },
      { owner: 'decided_by', becomes: 'unlink' },
      { owner: 'blocker', becomes: 'erase' },
    ],
    archive: { never: 'It is about a hash that names nobody.' },
  },
  new Schema<KeptRestriction>(
    {
      _id: required,
      person: required,
      kind: required,
      room: optional,
      decided_by: optional,
      blocker: optional,
      until: later,
    },
    { collection: 'kept_restrictions', versionKey: false },
  )
    .index({ person: 1 })
    .index({ decided_by: 1 })
    .index({ blocker: 1 })
    .index({ until: 1 }),
)
