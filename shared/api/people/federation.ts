import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Time } from '#shared/kit/primitives'
import { Linked } from './identities.ts'
import { SignedInAnswer } from './identity.ts'

const Proof = z.object({
  action: z.string().min(1).max(500),
  signal: z.string().max(2_000),
  proof: z.string().min(1).max(10_000),
  merkle_root: z.string().min(1).max(200),
  nullifier_hash: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, { error: 'Invalid nullifier_hash' })
    .toLowerCase(),
  verification_level: z.string().min(1).max(50).optional(),
})
const proofErrors = ['INVALID_SIGNATURE', 'INVALID_NONCE', 'NONCE_EXPIRED', 'UPSTREAM_ERROR', 'TIMEOUT'] as const
/** 400 where the provider refuses the proof; 401 where it is of something else, or was used before. */
const proofStatuses = { INVALID_SIGNATURE: [400, 401] } as const

/** `alienAddress` is another name of `partnerAddress`. Which of the fields must be there is judged with the token. */
const PartnerProof = z.object({
  token: z.string().optional(),
  partnerAddress: z.string().max(160).optional(),
  alienAddress: z.string().max(160).optional(),
  isMiniApp: z.boolean().default(false),
})
const partnerErrors = ['INVALID_SIGNATURE', 'UPSTREAM_ERROR', 'TIMEOUT'] as const

/** Ways in that somebody else vouches for. */
export const federation = {
  proofSignal: operation({
    summary: 'A signal to bind a human proof to: good for one proof within five minutes.',
    http: 'GET /api/auth/humanproof-id',
    aliases: [{ http: 'GET /api/auth/world-id' }],
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ signal: z.string(), action: z.string().nullable(), expires_at: Time }),
    errorBody: 'text',
  }),
  humanProof: operation({
    summary: 'Signs in with a proof that the provider verifies; each proof is good once.',
    http: 'POST /api/auth/humanproof-id',
    aliases: [{ http: 'POST /api/auth/world-id' }],
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ nullifier_hash }) => nullifier_hash,
    whileSuspended: 'signs in',
    input: Proof,
    output: SignedInAnswer.extend({ nullifier_hash: z.string(), verification_level: z.string() }),
    errors: proofErrors,
    statuses: proofStatuses,
    audit: true,
    errorBody: 'text',
  }),
  linkHumanProof: operation({
    summary: 'Lets the human of a proof open the account too.',
    http: 'POST /api/identities/humanproof',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    freshProof: { unless: [] },
    input: Proof,
    output: Linked,
    errors: proofErrors,
    statuses: proofStatuses,
    audit: true,
    errorBody: 'text',
  }),
  partner: operation({
    summary: 'Signs in with a token of the partner: for `partnerAddress`, or with `isMiniApp` for whom it names.',
    http: 'POST /api/auth/partner-id',
    aliases: [{ http: 'POST /api/auth/alien-id' }],
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ partnerAddress, alienAddress, token }) => partnerAddress ?? alienAddress ?? token,
    whileSuspended: 'signs in',
    input: PartnerProof,
    output: SignedInAnswer.extend({ partnerAddress: z.string(), alienAddress: z.string() }),
    errors: partnerErrors,
    audit: true,
    errorBody: 'text',
  }),
  linkPartner: operation({
    summary: 'Lets the holder of a partner token open the account too.',
    http: 'POST /api/identities/partner',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    freshProof: { unless: [] },
    input: PartnerProof,
    output: Linked,
    errors: partnerErrors,
    audit: true,
    errorBody: 'text',
  }),
}
