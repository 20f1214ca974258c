import { createHash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { accountOf, refuseNewcomer } from '#server/domains/people/accounts/accounts'
import { linkIdentity, type ProvenIdentity } from '#server/domains/people/identity/identities'
import { Identities, type IdentityRecord } from '#server/domains/people/identity/model'
import { signInBy } from '#server/domains/people/identity/sign-in'
import { checkNonce, consumeNonce, issueNonce, nonceMilliseconds } from '#server/domains/people/identity/siwe'
import { joinPartnerChannel } from '#server/domains/rooms/rooms/partner-channel'
import type { Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { readDuplicate } from '#server/kernel/store/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { type HumanProof, otherProof } from '#server/ports/human-proof/port'
import { federation as contract } from '#shared/api/people/federation'
import { AppError, type ErrorCode } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { Address, canonicalAddress } from '#shared/kit/primitives'
import { PartnerNames, SpentProofs } from './model.ts'
import { federationSettings } from './settings.ts'

/** A refusal in the shape of the partner interfaces. */
const federationRefusal = (code: ErrorCode, message: string, details = {}, status?: number) =>
  new AppError(code, { message, details: { success: false, ...details }, ...(status !== undefined && { status }) })

const signalPrefix = 'plaza:'
/** The subject of the nonce, because the prover has no address yet. */
const signalSubject = 'human-proof'

/** A signal to which a proof may be bound. The proof is then valid here only, once, and for a short time. */
async function writeSignal(node: Node) {
  providerOf(node)
  const now = node.now()
  const signal = signalPrefix + (await issueNonce(signalSubject, now))
  const { action } = federationSettings.of(node)
  return { signal, action, expires_at: new Date(now + nonceMilliseconds).toISOString() }
}

/** Verifies a human proof and uses it up, after all checks have passed. */
async function proveHuman(node: Node, proof: HumanProof): Promise<{ identity: ProvenIdentity; level: string }> {
  const provider = providerOf(node)
  const { action } = federationSettings.of(node)
  if (action !== null && proof.action !== action)
    throw federationRefusal('INVALID_SIGNATURE', 'The proof is for another action')
  const nonce = proof.signal.startsWith(signalPrefix) ? proof.signal.slice(signalPrefix.length) : null
  if (nonce !== null) await checkNonce(nonce, signalSubject, node.now())
  const verdict = await provider.verify(proof)
  if (!verdict.valid) {
    const { code: reason, detail } = verdict
    // A proof that the provider neither refused nor verified is a proof of something else.
    const status = reason === otherProof ? 401 : 400
    throw federationRefusal('INVALID_SIGNATURE', 'Verification failed', { reason, detail }, status)
  }
  if (nonce !== null) await consumeNonce(nonce, signalSubject)
  await spendProof(proof.proof, node.now())
  return { identity: { method: 'worldid', identifier: `worldid:${verdict.nullifierHash}` }, level: verdict.level }
}

function providerOf({ services: { humanProofs } }: Node) {
  if (!humanProofs) throw federationRefusal('SERVICE_UNAVAILABLE', 'Sign-in by human proof is not configured here')
  return humanProofs
}

/** Of simultaneous calls exactly one succeeds. */
async function spendProof(proof: string, now: number): Promise<void> {
  const _id = createHash('sha256').update(proof.trim().toLowerCase()).digest('hex')
  await SpentProofs.create({ _id, at: new Date(now) }).catch((error: unknown) => {
    throw isDuplicate(error) ? federationRefusal('INVALID_SIGNATURE', 'This proof was used before') : error
  })
}

/** The user in a partner's token: a name is valid for its issuer only. */
interface PartnerUser {
  issuer: string
  name: string
}

const method = 'alien'

/**
 * The identity of a partner's user. A plain name belongs to its first issuer. A wallet id as a name proves nothing
 * about the wallet, so issuer and name make the identity. The same applies to a second issuer.
 */
async function partnerIdentity({ issuer, name }: PartnerUser): Promise<ProvenIdentity> {
  const ofIssuer = { method, identifier: partnerIdOf({ issuer, name }) } as const
  if (isWalletId(name) && !(await isLinkedByOwner(name))) return { ...ofIssuer, names: name }
  return (await isOfIssuer(name, issuer)) ? { method, identifier: name } : ofIssuer
}

const partnerIdOf = ({ issuer, name }: PartnerUser) =>
  `partner:${createHash('sha256')
    .update(JSON.stringify([issuer, name]))
    .digest('hex')}`

/** FORBIDDEN for newcomers while registration is closed, before the name is assigned to its issuer. */
async function refuseNewName(named: PartnerUser): Promise<void> {
  const ids = [named.name, partnerIdOf(named)]
  if (!(await Identities.exists({ method, identifier: { $in: ids } }))) await refuseNewcomer(ids)
}

/** Ethereum addresses and passkey ids in any case, and Solana addresses. */
const isWalletId = (name: string) => /^0x/i.test(name) || /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(name)

/** Owners of wallets could once link wallet names. An account that such a name created belongs to the wallet only. */
async function isLinkedByOwner(name: string): Promise<boolean> {
  const record = await Identities.findOne({ method, identifier: name }).lean<IdentityRecord>()
  if (!record) return false
  return !isSameAccount(record.account, name) || (await accountOf(name))?.wallet_type !== 'partner_id'
}

/** Of simultaneous issuers one gets the name. */
async function isOfIssuer(name: string, issuer: string): Promise<boolean> {
  await PartnerNames.create({ _id: name, issuer }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
  const taken = await readDuplicate(() => PartnerNames.findOne({ _id: name }).lean())
  return taken?.issuer === issuer
}

const longestToken = 8 * 1024
/** Ids of other sign-in methods, and our own names. */
const reservedIds = /^(email|worldid|humanproof|partner|bot|plaza|global|alpha)(:|$)/i

interface PartnerInput {
  token?: string | undefined
  partnerAddress?: string | undefined
  alienAddress?: string | undefined
  isMiniApp: boolean
}

/** Verifies a partner's token, and returns its user. */
async function provePartner(node: Node, asked: PartnerInput): Promise<PartnerUser> {
  const { partnerTokens } = node.services
  if (!partnerTokens) throw federationRefusal('SERVICE_UNAVAILABLE', 'Partner sign-in is not configured here')
  const { token = '', isMiniApp } = asked
  refuseUnreadable(token)
  const verdict = await partnerTokens.verify(token, node.now())
  if (!verdict.valid && verdict.reason === 'refused')
    throw federationRefusal('INVALID_SIGNATURE', 'The token could not be verified')
  const { iss: issuer } = verdict.claims
  if (typeof issuer !== 'string') throw federationRefusal('INVALID_SIGNATURE', 'The token names no issuer')
  const name = nameIn(verdict.claims)
  if (!isMiniApp) refuseOthers(name, asked)
  if (!verdict.valid) throw federationRefusal('UNAUTHORIZED', 'The token has expired')
  return { issuer, name }
}

function refuseUnreadable(token: string): void {
  if (token === '') throw federationRefusal('VALIDATION_ERROR', 'token is required')
  if (token.length > longestToken || token.split('.').length !== 3)
    throw federationRefusal('VALIDATION_ERROR', 'The token is not a signed token')
  try {
    decodeProtectedHeader(token)
    decodeJwt(token)
  } catch {
    throw federationRefusal('VALIDATION_ERROR', 'The token cannot be read')
  }
}

/** The subject, else the user id. It must be a valid account id that no other sign-in method assigns. */
function nameIn({ sub, user_id }: Readonly<Record<string, unknown>>): string {
  const given = sub ?? user_id ?? null
  if (given === null) throw federationRefusal('VALIDATION_ERROR', 'The token names no identifier')
  const named = Address.safeParse(given)
  if (!named.success || reservedIds.test(named.data))
    throw federationRefusal('UNAUTHORIZED', 'The token names no usable identifier')
  return named.data
}

function refuseOthers(name: string, { partnerAddress, alienAddress = partnerAddress }: PartnerInput): void {
  if (!alienAddress) throw federationRefusal('VALIDATION_ERROR', 'partnerAddress is required')
  const claimed = [alienAddress, partnerAddress ?? alienAddress].map((one) => canonicalAddress(one).toLowerCase())
  if (claimed[0] !== claimed[1]) throw federationRefusal('VALIDATION_ERROR', 'partnerAddress and alienAddress differ')
  if (claimed[0] !== name.toLowerCase())
    throw federationRefusal('UNAUTHORIZED', 'The token does not match the claimed address')
}

export const federation = defineDomain(
  contract,
  {
    proofSignal: (_input, { node }) => writeSignal(node),

    async humanProof(proof, context) {
      const { identity, level } = await proveHuman(context.node, proof)
      const answer = await signInBy(context, identity)
      return { ...answer, nullifier_hash: proof.nullifier_hash, verification_level: level }
    },

    async linkHumanProof(proof, context) {
      const { identity } = await proveHuman(context.node, proof)
      return linkIdentity(context, identity)
    },

    async partner(input, context) {
      const named = await provePartner(context.node, input)
      await refuseNewName(named)
      const answer = await signInBy(context, await partnerIdentity(named))
      await joinPartnerChannel(context.node, answer.userAddress)
      return { ...answer, partnerAddress: named.name, alienAddress: named.name }
    },

    async linkPartner(input, context) {
      return linkIdentity(context, await partnerIdentity(await provePartner(context.node, input)))
    },
  },
  { settings: federationSettings },
)
