import { Words } from '#server/domains/rooms/room-state/model'
import { type Actions, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { retryOnStart } from '#server/kernel/retry-on-start'
import { moderation as contract } from '#shared/api/moderation/moderation'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { act } from './acts.ts'
import { bans, inspect, rulesOf, verify, words } from './inspect.ts'
import { followModeration } from './live.ts'
import { performModeration } from './moderate.ts'
import { endDemoGrants } from './promote.ts'
import { claim, decide, evidence, queue } from './queue.ts'
import { removeWord } from './rules.ts'
import { simulate } from './simulate.ts'
import { answerModerators } from './subscriptions.ts'

const actions: Actions<typeof contract> = {
  act,
  async removeWord({ id }, context) {
    const word = await Words.findOne({ word_id: id, is_active: true }, { room: 1 }).lean()
    if (!word) throw new AppError('NOT_FOUND', { message: 'Word not found' })
    const input = { room: null, action: 'word_remove' as const, reason: null, patch: { word_id: id } }
    await performModeration(
      context,
      word.room,
      { account: signedIn(context).account, action: 'word_remove' },
      removeWord(input),
    )
    return done
  },
  inspect,
  verify,
  rules: rulesOf,
  bans,
  words,
  simulate,
  queue,
  claim,
  decide,
  evidence,
}

export const moderation = defineDomain(contract, actions, {
  async start(node) {
    const stops = [followModeration(node), answerModerators(node)]
    if (!node.settings.demo) await retryOnStart(() => endDemoGrants(node))
    return stops
  },
})
