import { grantGlobalModerator } from '#server/domains/moderation/promote'
import { implement, signedIn } from '#server/kernel/context'
import { status as contract } from '#shared/api/status'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'

export const status = implement('status', contract, {
  get: (_input, { node }) => ({
    name: 'Plaza',
    version: '0.1.0',
    node: node.id,
    demo: node.settings.demo,
    sign_in: ['wallet'],
  }),

  async becomeModerator(_input, context) {
    if (!context.node.settings.demo) throw new AppError('NOT_FOUND')
    await grantGlobalModerator(context.node, 'plaza', signedIn(context).account)
    return done
  },
})
