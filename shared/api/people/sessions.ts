import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Done, Id, Time } from '#shared/kit/primitives'
import { RecentWay } from './identities.ts'
import { AuthMethod } from './identity.ts'

/** A device that is signed in: a session, and all it was refreshed to. */
export const Device = z.object({
  id: z.string(),
  auth_method: AuthMethod,
  created_at: Time,
  last_used_at: Time,
  expires_at: Time,
  user_agent: z.string(),
  ip_address: z.string(),
  is_current: z.boolean(),
})

export const sessions = {
  list: operation({
    summary: 'The devices that are signed in to the account, the last used first.',
    http: 'GET /api/auth/sessions',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ sessions: z.array(Device) }),
    errorBody: 'text',
  }),
  end: operation({
    summary: 'Signs one device out; its sockets close everywhere.',
    http: 'DELETE /api/auth/sessions/:id',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    whileSuspended: 'protects',
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
    audit: true,
    errorBody: 'text',
  }),
  endOthers: operation({
    summary: 'Signs every other device out, and lists the ways in that were added lately, in case one is not yours.',
    http: 'DELETE /api/auth/sessions',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    whileSuspended: 'protects',
    input: z.object({}),
    output: Done.extend({ recently_linked: z.array(RecentWay) }),
    audit: true,
    errorBody: 'text',
  }),
}
