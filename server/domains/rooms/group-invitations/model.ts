import mongoose, { Schema } from 'mongoose'
import type { RoomKey } from '#server/log/types'

/** Whether somebody whom no friend of theirs brings into a group wants to be in it. One for each of both. */
export interface GroupInvitationRow {
  /** The room and the account of the invited, with a space between. */
  _id: string
  /** New each time they are asked. */
  invitation_id: string
  room: RoomKey
  inviter_address: string
  invitee_address: string
  status: 'pending' | 'accepted' | 'declined'
  created_at: string
  responded_at: string | null
}

const required = { type: String, required: true } as const

export const GroupInvitations = mongoose.model<GroupInvitationRow>(
  'GroupInvitations',
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
    },
    { collection: 'group_invitations', versionKey: false },
  )
    .index({ invitation_id: 1 })
    .index({ invitee_address: 1, status: 1, created_at: -1 })
    .index({ inviter_address: 1, status: 1 }),
)
