import { refuseWords } from '#server/domains/rooms/room-state/judge-draft'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { GLOBAL } from '#server/log/types'
import { broadcasts as contract } from '#shared/api/platform/broadcasts'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { Broadcasts, type StoredBroadcast } from './model.ts'
import { recipientCount } from './recipients.ts'
import { broadcastJob, sendFirstBatch } from './send-broadcast.ts'

const anHour = 5
const hourSeconds = 3_600
const listedAtMost = 10

export const broadcasts = defineDomain(
  contract,
  {
    async send({ message, target }, context) {
      const { account } = signedIn(context)
      const { node, creationId: id } = context
      await node.log.ask(GLOBAL, (view) => refuseWords(node, view, [message]))
      if (!(await node.limits.guard('broadcasts', account, anHour, hourSeconds)))
        throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
      const broadcast = { id, message, target, created_by: account, at: node.now() }
      // Stored before the first message: another node finishes what this one does not.
      await node.jobs.add(broadcastJob, broadcast, id)
      return { ...done, id, ...countsIn(await sendFirstBatch(node, broadcast)) }
    },

    async read({ target }, context) {
      const { account } = signedIn(context)
      const source = { target, created_by: account, created_at: new Date(context.node.now()) }
      const [total, found] = await Promise.all([
        recipientCount(source),
        Broadcasts.find().sort({ created_at: -1 }).limit(listedAtMost).lean<StoredBroadcast[]>(),
      ])
      return { target, total, broadcasts: found.map(renderBroadcast) }
    },
  },
  { jobs: [broadcastJob] },
)

const countsIn = ({ sent, failed, push_sent: pushSent, total, target }: StoredBroadcast) => ({
  ...{ sent, failed, pushSent, total, target },
})

const renderBroadcast = (stored: StoredBroadcast) => ({
  id: stored._id,
  message: stored.message,
  ...countsIn(stored),
  created_by: stored.created_by,
  created_at: stored.created_at.toISOString(),
  finished_at: stored.finished_at?.toISOString() ?? null,
})
