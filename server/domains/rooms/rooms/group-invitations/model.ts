import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { RoomKey } from '#server/log/types'

/** An invitation into a group from a person who is no friend; one for each pair. */
export interface GroupInvitationRow {
  /** The room and the invited account, separated by a space. */
  _id: string
  /** New at each invitation, and ordered by time. */
  invitation_id: string
  room: RoomKey
  inviter_address: string
  invitee_address: string
  /**
   * `unsent`: the invited person is not notified, and the inviter does not know. `accepted`: they are members, by any
   * way. `ended`: no longer acceptable. Older versions deleted withdrawn ones.
   */
  status: 'pending' | 'accepted' | 'declined' | 'withdrawn' | 'unsent' | 'ended'
  created_at: string
  responded_at: string | null
  /** Until this time an acceptance is in progress, and nothing else decides. */
  accepting_until?: string | null
  /** The last notification of the invited person. */
  told_at?: string | null
  /** Was it withdrawn after a refusal or its end? To the inviter it was pending until then. */
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
