import type { z } from 'zod'
import { accountOf, isBot, refuseNewcomer, refuseWhileClosed } from '#server/domains/people/accounts/accounts'
import { clearEmail, emailAccountId } from '#server/domains/people/accounts/emails'
import { type Account, Passkeys } from '#server/domains/people/accounts/model'
import { clearWallet } from '#server/domains/people/accounts/smart-account'
import { type Context, type Node, type SignedIn, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { readDuplicate } from '#server/kernel/store/read-back'
import { isDuplicate } from '#server/ports/database/port'
import type { Identity } from '#shared/api/people/identities'
import type { AuthMethod } from '#shared/api/people/identity'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { notifyOfChange } from './change-notices.ts'
import { Identities, type IdentityRecord, type LinkedMethod } from './model.ts'
import { endAllSessions, endOtherSessions, endSessionsBy } from './session-ends.ts'

/** An identity that the caller has just proved. */
export interface ProvenIdentity {
  method: LinkedMethod
  /** The id of the account that it creates if it is not linked. */
  identifier: string
  /** An account that a third party names: it may link the identity, but the identity cannot sign in to it. */
  names?: string
}

/** The account of an identity: the linked one, else its own, created now and permanent. */
export async function accountOfIdentity(node: Node, identity: ProvenIdentity): Promise<string> {
  const { method, identifier, names = identifier } = identity
  const now = node.now()
  const used = await Identities.findOneAndUpdate(
    { method, identifier },
    { $set: { last_used_at: new Date(now) } },
  ).lean<IdentityRecord>()
  if (used) return used.account
  const known = await accountOf(names)
  const isOfPartner = known?.wallet_type === partnerType
  if (method === 'alien' && known && !(isOfPartner && names !== identifier)) {
    // A simultaneous first sign-in of the same person may have created both, the identity first.
    const made = await Identities.findOne({ method, identifier }).lean<IdentityRecord>()
    if (made) return made.account
    throw new AppError('CONFLICT', {
      message: 'This account was made in another way; sign in to it and link the partner',
    })
  }
  if (names !== identifier) await refuseNewcomer([identifier])
  else if (!known) await refuseWhileClosed()
  if (method !== 'alien' && isOfPartner) await evictPartner(node, identifier)
  const { account } = await recordIdentity(identity, identifier, now)
  return account
}

const partnerType = 'partner_id'

/**
 * A partner could once create a wallet's account by naming it. The wallet's owner gets it without other people's
 * identities.
 */
async function evictPartner(node: Node, account: string): Promise<void> {
  await Promise.all([
    Identities.deleteMany({ account }),
    Passkeys.deleteMany({ user_address: account }),
    clearEmail(account, node.now()),
  ])
  await endAllSessions(node, account)
  await clearWallet(account, node.now())
}

async function linkedOutput(context: Context, record: IdentityRecord) {
  const { account, method, identifier } = record
  await notifyOfChange(context, account, { change: 'added', method, identifier })
  return { success: true as const, identity: identityOutput(record) }
}

/** Links a proven identity to the calling account, unless another account has it. */
export async function linkIdentity(context: Context, identity: ProvenIdentity) {
  const { account } = signedIn(context)
  if (isSameAccount(identity.names, account))
    return linkedOutput(context, await moveIdentity(context.node, identity, account))
  const isForeign = !isSameAccount(identity.identifier, account) && (await accountOf(identity.identifier)) !== null
  if (isForeign) throw new AppError('CONFLICT', { message: 'This identity has an account of its own' })
  const record = await recordIdentity(identity, account, context.node.now())
  if (!isSameAccount(record.account, account))
    throw new AppError('CONFLICT', { message: 'This identity opens another account' })
  return linkedOutput(context, record)
}

/** An identity that names this account moves to it from any other. */
async function moveIdentity(node: Node, identity: ProvenIdentity, account: string): Promise<IdentityRecord> {
  const { method, identifier } = identity
  const before = await Identities.findOneAndUpdate({ method, identifier }, { $set: { account } }).lean<IdentityRecord>()
  if (!before) return recordIdentity(identity, account, node.now())
  if (!isSameAccount(before.account, account)) await endSessionsBy(node, before.account, method)
  return { ...before, account }
}

/** Of simultaneous calls the first wins; all return its record, which names the account. */
async function recordIdentity(
  { method, identifier }: ProvenIdentity,
  account: string,
  now: number,
): Promise<IdentityRecord> {
  const record = { _id: newId(), method, identifier, account, created_at: new Date(now), last_used_at: null }
  try {
    await Identities.create(record)
    return record
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
  const first = await readDuplicate(() => Identities.findOne({ method, identifier }).lean<IdentityRecord>())
  if (!first) throw new AppError('CONFLICT', { message: 'This identity was unlinked just now' })
  return first
}

export async function listIdentities(account: string): Promise<z.input<typeof Identity>[]> {
  const [records, owner] = await Promise.all([
    Identities.find({ account }).sort({ created_at: 1 }).lean<IdentityRecord[]>(),
    accountOf(account),
  ])
  const kept = owner ? otherIdentities(owner, records) : []
  return [...kept, ...records.map(identityOutput)]
}

/**
 * Unlinks an identity, and ends other sessions of this method. The original stays, so that one way to sign in always
 * remains.
 */
export async function unlinkIdentity(context: Context, id: string): Promise<void> {
  const caller = signedIn(context)
  const record = await ownIdentity(caller, id)
  if (isOriginal(record))
    throw new AppError('CONFLICT', { message: 'The account has its id from this one, so it stays' })
  const { deletedCount } = await Identities.deleteOne({ _id: id, account: caller.account })
  if (deletedCount === 0) throw new AppError('NOT_FOUND')
  await endOtherSessions(context.node, caller, record.method)
  await notifyOfChange(context, caller.account, { ...record, change: 'removed' })
}

/** Loads an identity by a client's id, only for its owner. */
async function ownIdentity({ account }: SignedIn, id: string): Promise<IdentityRecord> {
  const record = await Identities.findOne({ _id: id, account }).lean<IdentityRecord>()
  if (!record) throw new AppError('NOT_FOUND')
  return record
}

/** Sign-in methods stored elsewhere: the email address, and an original identity without a record. */
function otherIdentities(owner: Account, records: readonly IdentityRecord[]): z.input<typeof Identity>[] {
  const { _id, email, email_verified, email_verified_at, wallet_type, created_at } = owner
  const stored = (method: AuthMethod, identifier: string, is_original: boolean, at: Date | null) => ({
    id: null,
    method,
    identifier,
    is_original,
    created_at: at?.toISOString() ?? null,
    last_used_at: null,
  })
  const isFromEmail = email !== undefined && _id === emailAccountId(email)
  const original = isFromEmail || owner.email_taken || isBot(_id) || records.some(isOriginal)
  return [
    ...(original ? [] : [stored(methodOf(_id, wallet_type), _id, true, created_at)]),
    ...(email === undefined || !email_verified ? [] : [stored('email', email, isFromEmail, email_verified_at)]),
  ]
}

function methodOf(account: string, walletType: string | null): AuthMethod {
  if (account.startsWith('email:')) return 'email'
  return walletType === 'passkey' ? 'passkey' : 'wallet'
}

const isOriginal = ({ identifier, account }: IdentityRecord) => isSameAccount(identifier, account)

const identityOutput = (record: IdentityRecord): z.input<typeof Identity> => ({
  id: record._id,
  method: record.method,
  identifier: record.identifier,
  is_original: isOriginal(record),
  created_at: record.created_at.toISOString(),
  last_used_at: record.last_used_at?.toISOString() ?? null,
})
