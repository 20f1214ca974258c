import { z } from 'zod'
import { defineEvent, patchList } from '#server/domains/rooms/events/define'
import { InvitationFact, isInvitationOpen, keys } from '../facts.ts'
import { changeInvitations } from './changes.ts'

/** The number of ended invitations that are kept to explain their refusal. */
const maxDeadInvitations = 50

export const invitationCreated = defineEvent('invitation.created', {
  body: z.object({ invitation: InvitationFact }),
  changes: ({ at }, { invitation }) => [
    patchList<InvitationFact>(keys.invitations, (all) => {
      const others = all.filter(({ invitation_id }) => invitation_id !== invitation.invitation_id)
      const dead = others.filter((one) => !isInvitationOpen(one, at)).slice(-maxDeadInvitations)
      return [...dead, ...others.filter((one) => isInvitationOpen(one, at)), invitation]
    }),
  ],
  data: () => ({}),
  entry: {
    action: () => 'invite',
    metadata: (_row, { invitation: { invitation_id, expires_at, max_uses } }) => ({
      invitation_id,
      expires_at,
      max_uses,
    }),
  },
  isUnsigned: () => true,
})

export const invitationRevoked = defineEvent('invitation.revoked', {
  body: z.object({ id: z.string(), at: z.string() }),
  changes: (_row, { id, at }) => [changeInvitations(({ invitation_id }) => invitation_id === id, { revoked_at: at })],
  data: () => ({}),
  entry: { action: () => 'uninvite', metadata: (_row, { id }) => ({ invitation_id: id }) },
  isUnsigned: () => true,
})
