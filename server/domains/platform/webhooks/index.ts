import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
import { webhooks as contract } from '#shared/api/platform/webhooks'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { makeHooksDue } from './deliver.ts'
import { startDelivering } from './dispatch.ts'
import { createHook, hooksOf, ownHook, removeHook, renderHook, rotateSecret, updateHook } from './hooks.ts'
import { deliveriesOf, postToHook, requestReplay } from './send.ts'

/** The manual deliveries of one account. */
const byHand = { most: 20, seconds: 60 }

async function spendByHand({ node, caller }: Context): Promise<void> {
  const retryAfter = await node.limits.wait('webhooks-by-hand', caller.account ?? '', byHand.most, byHand.seconds)
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
}

export const webhooks = defineDomain(
  contract,
  {
    async create(input, context) {
      const { hook, secret } = await createHook(context, signedIn(context).account, input)
      return { webhook: renderHook(hook, context.node.now()), secret }
    },

    async list(_input, context) {
      const hooks = await hooksOf(signedIn(context).account)
      return { webhooks: hooks.map((hook) => renderHook(hook, context.node.now())) }
    },

    async read({ id }, context) {
      return { webhook: renderHook(await ownHook(signedIn(context).account, id), context.node.now()) }
    },

    async update(input, context) {
      return {
        webhook: renderHook(await updateHook(context.node, signedIn(context).account, input), context.node.now()),
      }
    },

    async remove({ id }, context) {
      await removeHook(context.node, signedIn(context).account, id)
      return done
    },

    async rotate({ id }, context) {
      const { hook, secret } = await rotateSecret(context.node, signedIn(context).account, id)
      return { webhook: renderHook(hook, context.node.now()), secret }
    },

    async test({ id }, context) {
      const { node, signal } = context
      const hook = await ownHook(signedIn(context).account, id)
      await spendByHand(context)
      const ping = { id: newId(), type: 'webhook.ping', at: new Date(node.now()).toISOString(), data: { webhook: id } }
      const { status, milliseconds, error } = await postToHook(node, hook, ping, signal)
      return { attempt: { status, milliseconds, error } }
    },

    async deliveries({ id, ...page }, context) {
      return deliveriesOf(await ownHook(signedIn(context).account, id), page)
    },

    async replay({ id, delivery }, context) {
      await ownHook(signedIn(context).account, id)
      await spendByHand(context)
      const replaying = await requestReplay(id, delivery)
      if (delivery !== undefined && replaying === 0) throw new AppError('NOT_FOUND', { message: 'Delivery not found' })
      await makeHooksDue(context.node, [id])
      return { replaying }
    },
  },
  { start: async (node) => [await startDelivering(node)] },
)
