import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Done, Id, Time } from '#shared/kit/primitives'
import { AuthMethod, messageErrors, SignedMessage, SignedSolanaMessage } from './identity.ts'

/** One way into the account. */
export const Identity = z.object({
  /** Null for what is kept elsewhere: a passkey, an e-mail address. */
  id: z.string().nullable(),
  method: AuthMethod,
  identifier: z.string(),
  /** The account has its id from this one, so it stays. */
  is_original: z.boolean(),
  created_at: Time.nullable(),
  last_used_at: Time.nullable(),
})

export const Linked = z.object({ success: z.literal(true), identity: Identity })

/** A sign-in or contact method of the last seven days, beside the one of the account's id. */
export const RecentWay = z.object({
  /** What takes it away again: `DELETE /api/identities/:id`, `DELETE /api/passkey/credential`, `POST /api/email/remove`, `POST /api/phone/remove`. */
  kind: z.enum(['identity', 'passkey', 'email', 'phone']),
  /** Null for an e-mail address and a phone number, of which there is one each. */
  id: z.string().nullable(),
  method: z.enum([...AuthMethod.options, 'phone']),
  identifier: z.string(),
  linked_at: Time,
})

export const identities = {
  list: operation({
    summary: 'Every way into the account.',
    http: 'GET /api/identities',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ identities: z.array(Identity) }),
    errorBody: 'text',
  }),
  linkWallet: operation({
    summary: 'Lets a wallet open the account too, proved by a message of `GET /api/auth/verify`.',
    http: 'POST /api/identities/wallet',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    freshProof: { unless: [] },
    input: SignedMessage,
    output: Linked,
    errors: [...messageErrors, 'UPSTREAM_ERROR'],
    audit: true,
    errorBody: 'text',
  }),
  linkSolana: operation({
    summary: 'Lets a Solana wallet open the account too, proved by a message of `GET /api/auth/verify-solana`.',
    http: 'POST /api/identities/solana',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    freshProof: { unless: [] },
    input: SignedSolanaMessage,
    output: Linked,
    errors: messageErrors,
    audit: true,
    errorBody: 'text',
  }),
  unlink: operation({
    summary:
      'Takes a linked way in away, and ends the other sessions of its kind; never the last one, nor the original.',
    http: 'DELETE /api/identities/:id',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    freshProof: { unless: [] },
    whileSuspended: 'protects',
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
    audit: true,
    errorBody: 'text',
  }),
}

export const identityChanged = event('/notifications identity:changed', {
  summary:
    'A way into the account, a way to reach it or a token of a bot was added or taken away; told to every device.',
  audience: 'account',
  payload: z.object({
    change: z.enum(['added', 'removed']),
    method: z.enum([...AuthMethod.options, 'phone', 'service']),
    /** What was added or taken away, shortened where it is secret. */
    identifier: z.string(),
    at: Time,
    /** What the device that did it says of itself. */
    user_agent: z.string(),
  }),
})
export const identityEvents = { identityChanged }
