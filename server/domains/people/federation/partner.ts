import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { Node } from '#server/kernel/context'
import { Address, canonicalAddress } from '#shared/kit/primitives'
import type { PartnerUser } from './partner-identity.ts'
import { federationRefusal } from './refusals.ts'

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
export async function provePartner(node: Node, asked: PartnerInput): Promise<PartnerUser> {
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
