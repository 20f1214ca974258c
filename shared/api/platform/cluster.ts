import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Time } from '#shared/kit/primitives'

const count = z.number().int().nonnegative()

/** The last report of one running server, or of one worker of several. */
export const NodeFigures = z.object({
  id: z.string(),
  host: z.string(),
  process: count,
  version: z.string(),
  /** `silent`: its reports stopped without an announced end. */
  state: z.enum(['live', 'silent']),
  started_at: Time,
  seen_at: Time,
  connections: count,
  /** Rooms whose log it follows. */
  rooms: count,
  messages_per_second: z.number().nonnegative(),
  /** The longest that a row took from its append to its delivery here, in the last seconds. */
  lag_ms: count,
  /** Rows that no hint had brought in time, in the last seconds. */
  gaps_healed: count,
  /** How late its timers were at the worst, in the last seconds. */
  loop_lag_ms: count,
  memory_mb: count,
  /** Services that are away and have a substitute. */
  degraded: z.array(z.string()),
})
export type NodeFigures = z.infer<typeof NodeFigures>

export const cluster = {
  nodes: operation({
    summary: 'The nodes that serve this installation, with figures of the last seconds.',
    http: 'GET /api/admin/cluster',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({
      store: z.enum(['mongodb', 'embedded']),
      /** The node that answered. */
      answered_by: z.string(),
      at: Time,
      nodes: z.array(NodeFigures),
    }),
  }),
}
