import { Schema } from 'mongoose'
import { required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'
import type { RoomKey } from '#server/log/types'

/** Whether somebody whom no friend of theirs brings into a group wants to be in it. One for each of both. */
export interface GroupInvitationRow {
  /** The room and the account of the invited, with a space between. */
  _id: string
  /** New each time they are asked, and later in order than those before. */
  invitation_id: string
  room: RoomKey
  inviter_address: string
  invitee_address: string
  /**
   * `unsent`: the invited never hears of it, or no more, and who asked does not hear that. `accepted`: they are in, however they came. `ended`: it could not be
   * accepted any longer.
   * Those of older versions that were withdrawn are deleted.
   */
  status: 'pending' | 'accepted' | 'declined' | 'withdrawn' | 'unsent' | 'ended'
  created_at: string
  responded_at: string | null
  /** Until then an acceptance is under way, and nobody else decides. */
  accepting_until?: string | null
  /** When the invited was last told of it. */
  told_at?: string | null
  /** Whether somebody took it back after it had been answered with no, or had ended: to them it waited until then. */
  taken_back?: boolean
}

export const GroupInvitations = defineModel<GroupInvitationRow>(
  'GroupInvitations',
  {
    shares: [
      {
        owner: 'inviter_address',
        becomes: 'erase',
        hides: ['status', 'responded_at', 'accepting_until', 'told_at', 'taken_back'],
      },
      { owner: 'invitee_address', becomes: 'erase', unless: { status: 'unsent' } },
    ],
    archive: 'groupInvitations',
  },
  new Schema<GroupInvitationRow>(
    {
      _id: required,
      invitation_id: required,
      room: required,
      inviter_address: required,
      invitee_address: required,
      status: required,
      created_at: required,
      responded_at: { type: String, default: null },
      accepting_until: { type: String, default: null },
      told_at: { type: String, default: null },
      taken_back: { type: Boolean, default: false },
    },
    { collection: 'group_invitations', versionKey: false },
  )
    .index({ invitation_id: 1 })
    .index({ invitee_address: 1, status: 1, invitation_id: -1 })
    .index({ inviter_address: 1, status: 1 })
    .index({ inviter_address: 1, invitee_address: 1 })
    .index({ room: 1, status: 1 }),
)
