import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { invites as contract } from '#shared/api/people/invites'
import { done } from '#shared/kit/primitives'
import { invitesOf, redeemInvite } from './codes.ts'

export const invites = defineDomain(contract, {
  list: (_input, context) => invitesOf(context, signedIn(context).account),

  async redeem({ code }, context) {
    const { owner_address: inviter } = await redeemInvite(context, code)
    return { ...done, message: 'Welcome. Your invite gave you 100 points.', inviter }
  },
})
