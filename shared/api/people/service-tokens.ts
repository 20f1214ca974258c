import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, count, Done, Id, nameLine, onceByKey, repeatable, Time } from '#shared/kit/primitives'

export const ServiceToken = z.object({
  id: z.string(),
  name: z.string(),
  /** The bot it speaks for. */
  account: z.string(),
  scopes: z.array(z.string()),
  created_by: z.string(),
  created_at: Time,
  expires_at: Time,
  last_used_at: Time.nullable(),
})

/** Tokens of bots and integrators: a bearer, or `auth.token` of a socket, that may do what its scopes name. */
export const serviceTokens = {
  create: operation({
    summary: 'Makes a service token, shown this once, for a new bot or for one that exists.',
    http: 'POST /api/admin/service-tokens',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    freshProof: { unless: [] },
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      name: nameLine(1, 50),
      account: Address.optional(),
      scopes: z.array(z.string().max(100)).min(1).max(100),
      expiresInDays: count(1, 3650).default(365),
    }),
    output: z.object({ success: z.literal(true), token: z.string(), serviceToken: ServiceToken }),
    errors: ['USER_NOT_FOUND'],
    audit: 'account',
    errorBody: 'text',
  }),
  list: operation({
    summary: 'The service tokens that stand, without their secrets, and every scope there is.',
    http: 'GET /api/admin/service-tokens',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ tokens: z.array(ServiceToken), scopes: z.array(z.string()) }),
    errorBody: 'text',
  }),
  revoke: operation({
    summary: 'Ends a service token everywhere, with its sockets.',
    http: 'DELETE /api/admin/service-tokens/:id',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    freshProof: { unless: [] },
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
    audit: true,
    errorBody: 'text',
  }),
}
