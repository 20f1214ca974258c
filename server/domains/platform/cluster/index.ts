import { defineDomain } from '#server/kernel/domain'
import { cluster as contract } from '#shared/api/platform/cluster'
import { startHeartbeat, writeHeartbeat } from './heartbeat.ts'
import { Nodes } from './model.ts'

const silentMilliseconds = 10_000

export const cluster = defineDomain(
  contract,
  {
    async nodes(_input, { node }) {
      if (node.alone) await writeHeartbeat(node)
      const now = node.now()
      const found = await Nodes.find({ ...(node.alone ? { _id: node.id } : {}) })
        .sort({ started_at: 1, _id: 1 })
        .lean()
      return {
        store: node.alone ? ('embedded' as const) : ('mongodb' as const),
        answered_by: node.id,
        at: new Date(now).toISOString(),
        nodes: found.map(({ _id: id, started_at, seen_at, ...figures }) => ({
          ...figures,
          id,
          state: now - seen_at.getTime() > silentMilliseconds ? ('silent' as const) : ('live' as const),
          started_at: started_at.toISOString(),
          seen_at: seen_at.toISOString(),
        })),
      }
    },
  },
  {
    start: (node) => [startHeartbeat(node)],
  },
)
