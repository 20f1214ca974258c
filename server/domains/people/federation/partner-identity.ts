import { createHash } from 'node:crypto'
import { accountOf, refuseNewcomer } from '#server/domains/people/accounts/accounts'
import type { ProvenIdentity } from '#server/domains/people/identity/identities'
import { Identities, type IdentityRecord } from '#server/domains/people/identity/model'
import { readBack } from '#server/kernel/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { isSameAccount } from '#shared/kit/accounts'
import { PartnerNames } from './model.ts'

/** Whom a partner's token names: a name is good for its issuer alone. */
export interface Named {
  issuer: string
  name: string
}

const method = 'alien'

/**
 * The identity of a partner's user. A plain name belongs to the issuer that came with it first. A name that is the id
 * of a wallet proves nothing about the wallet, so that identity is one of issuer and name, as is that of a second issuer.
 */
export async function partnerIdentity({ issuer, name }: Named): Promise<ProvenIdentity> {
  const ofIssuer = { method, identifier: ownId({ issuer, name }) } as const
  if (isWalletId(name) && !(await isLinkedByOwner(name))) return { ...ofIssuer, names: name }
  return (await isOfIssuer(name, issuer)) ? { method, identifier: name } : ofIssuer
}

const ownId = ({ issuer, name }: Named) =>
  `partner:${createHash('sha256')
    .update(JSON.stringify([issuer, name]))
    .digest('hex')}`

/** FORBIDDEN for who has no account where new ones are not made, before the name becomes one of its issuer. */
export async function refuseNewName(named: Named): Promise<void> {
  const ids = [named.name, ownId(named)]
  if (!(await Identities.exists({ method, identifier: { $in: ids } }))) await refuseNewcomer(ids)
}

/** Ethereum addresses and ids of passkeys in any case, Solana addresses. */
const isWalletId = (name: string) => /^0x/i.test(name) || /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(name)

/** Before names of wallets were told apart, their owners could link them too; what such a name founded by itself is the wallet's alone. */
async function isLinkedByOwner(name: string): Promise<boolean> {
  const record = await Identities.findOne({ method, identifier: name }).lean<IdentityRecord>()
  if (!record) return false
  return !isSameAccount(record.account, name) || (await accountOf(name))?.wallet_type !== 'partner_id'
}

/** Of several issuers at once one has the name. */
async function isOfIssuer(name: string, issuer: string): Promise<boolean> {
  await PartnerNames.create({ _id: name, issuer }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
  const taken = await readBack(() => PartnerNames.findOne({ _id: name }).lean())
  return taken?.issuer === issuer
}
