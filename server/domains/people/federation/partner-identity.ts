import { createHash } from 'node:crypto'
import { accountOf, refuseNewcomer } from '#server/domains/people/accounts/accounts'
import type { ProvenIdentity } from '#server/domains/people/identity/identities'
import { Identities, type IdentityRecord } from '#server/domains/people/identity/model'
import { readDuplicate } from '#server/kernel/store/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { isSameAccount } from '#shared/kit/accounts'
import { PartnerNames } from './model.ts'

/** The user in a partner's token: a name is valid for its issuer only. */
export interface PartnerUser {
  issuer: string
  name: string
}

const method = 'alien'

/**
 * The identity of a partner's user. A plain name belongs to its first issuer. A wallet id as a name proves nothing
 * about the wallet, so issuer and name make the identity. The same applies to a second issuer.
 */
export async function partnerIdentity({ issuer, name }: PartnerUser): Promise<ProvenIdentity> {
  const ofIssuer = { method, identifier: partnerIdOf({ issuer, name }) } as const
  if (isWalletId(name) && !(await isLinkedByOwner(name))) return { ...ofIssuer, names: name }
  return (await isOfIssuer(name, issuer)) ? { method, identifier: name } : ofIssuer
}

const partnerIdOf = ({ issuer, name }: PartnerUser) =>
  `partner:${createHash('sha256')
    .update(JSON.stringify([issuer, name]))
    .digest('hex')}`

/** FORBIDDEN for newcomers while registration is closed, before the name is assigned to its issuer. */
export async function refuseNewName(named: PartnerUser): Promise<void> {
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
