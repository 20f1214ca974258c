import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, Time } from '#shared/kit/primitives'

export const betaAccess = {
  get: operation({
    summary: 'Whether the caller may make agents, and has asked to.',
    http: 'GET /api/beta-access/apply',
    socket: '/agents beta:get',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ hasBetaAccess: z.boolean(), hasApplied: z.boolean(), appliedAt: Time.nullable() }),
    errorBody: 'text',
  }),
  apply: operation({
    summary: 'Ask to be let make agents; admins see who has.',
    http: 'POST /api/beta-access/apply',
    socket: '/agents beta:apply',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ walletAddress: CallerAddress }),
    output: z.object({
      success: z.literal(true),
      message: z.string(),
      applied: z.literal(true).optional(),
      alreadyApplied: z.literal(true).optional(),
      hasBetaAccess: z.literal(true).optional(),
    }),
    errorBody: 'text',
  }),
}
