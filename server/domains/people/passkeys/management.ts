import { accountOf } from '#server/domains/people/accounts/accounts'
import {
  isWalletAccount,
  type SmartAccount,
  safeProfile,
  smartAccountIn,
} from '#server/domains/people/accounts/smart-account'
import { notifyOfChange } from '#server/domains/people/identity/change-notices'
import { type SessionRecord, Sessions } from '#server/domains/people/identity/model'
import { endSession } from '#server/domains/people/identity/sessions'
import { type Action, type Node, type SignedIn, signedIn } from '#server/kernel/context'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { OutputOf } from '#shared/kit/contract'
import { done } from '#shared/kit/primitives'
import { type Passkey, Passkeys } from './model.ts'
import { passkeyNameOf, passkeysOf } from './passkeys.ts'

type KeyStatus = OutputOf<typeof contract.list>['credentials'][number]['walletKeyStatus']

const shownCharacters = 20

export const list: Action<typeof contract.list> = async ({ includeKeys }, context) => {
  const { account } = signedIn(context)
  const [passkeys, smartAccount] = await Promise.all([passkeysOf(account), smartAccountOf(account)])
  const safeDeployed = await isDeployed(context.node, smartAccount)
  const credentials = passkeys.map((passkey) => ({
    id: passkey._id,
    credentialId: includeKeys ? passkey.credential_id : shortened(passkey.credential_id),
    deviceName: passkeyNameOf(passkey),
    createdAt: passkey.created_at.toISOString(),
    lastUsedAt: passkey.last_used_at?.toISOString() ?? null,
    backedUp: passkey.backed_up,
    isWalletKey: isSigner(passkey, smartAccount),
    walletKeyStatus: statusOf(passkey, smartAccount, safeDeployed),
    ...(includeKeys ? keysOf(passkey, smartAccount) : {}),
  }))
  return { credentials, safeDeployed, smartWalletAddress: smartAccount?.address ?? null }
}

export const current: Action<typeof contract.current> = async (_input, context) => {
  const { account, session } = signedIn(context)
  if (session.authMethod !== 'passkey')
    throw new AppError('INVALID_PARAMETER', { message: 'This session did not begin with a passkey' })
  const [passkeys, smartAccount] = await Promise.all([passkeysOf(account), smartAccountOf(account)])
  const [latest] = passkeys.sort((one, other) => usedAt(other) - usedAt(one))
  if (!latest) throw new AppError('PASSKEY_NOT_FOUND')
  const safeSignerReady = isSigner(latest, smartAccount)
  const message = safeSignerReady
    ? 'This passkey signs for the smart account'
    : 'This passkey signs in, but not for the smart account'
  return {
    credentialId: latest.credential_id,
    ...keysOf(latest, smartAccount),
    displayName: latest.display_name,
    backedUp: latest.backed_up,
    safeSignerReady,
    message,
  }
}

const smartAccountOf = async (id: string): Promise<SmartAccount | null> => {
  const account = await accountOf(id)
  return account && smartAccountIn(account)
}

/** Is it deployed on any configured chain? A chain that does not answer counts as no. */
async function isDeployed({ services }: Node, smartAccount: SmartAccount | null): Promise<boolean> {
  if (!smartAccount) return false
  const asked = [...services.chains.values()].map((chain) => chain.isDeployed(smartAccount.address).catch(() => false))
  return (await Promise.all(asked)).includes(true)
}

const shortened = (id: string) => (id.length > shownCharacters ? `${id.slice(0, shownCharacters)}...` : id)
const usedAt = ({ last_used_at, created_at }: Passkey) => (last_used_at ?? created_at).getTime()

const isSigner = (passkey: Passkey, smartAccount: SmartAccount | null): boolean =>
  smartAccount?.credentialId === passkey.credential_id

function statusOf(passkey: Passkey, smartAccount: SmartAccount | null, safeDeployed: boolean): KeyStatus {
  if (!smartAccount) return 'no_signer'
  if (!isSigner(passkey, smartAccount)) return 'not_owner'
  return safeDeployed ? 'active' : 'safe_not_deployed'
}

const keysOf = (passkey: Passkey, smartAccount: SmartAccount | null) => ({
  publicKeyX: passkey.public_key_x,
  publicKeyY: passkey.public_key_y,
  safeSignerAddress: isSigner(passkey, smartAccount) ? safeProfile.sharedSigner : null,
})

/** The passkey of the smart account stays, so that the account keeps a sign-in method. */
export const remove: Action<typeof contract.remove> = async ({ id, credentialId }, context) => {
  const caller = signedIn(context)
  if (!id && !credentialId) throw new AppError('VALIDATION_ERROR', { message: 'id is required' })
  const own = {
    user_address: caller.account,
    ...(id ? { _id: id } : {}),
    ...(credentialId ? { credential_id: credentialId } : {}),
  }
  const account = await accountOf(caller.account)
  const removable = account && isWalletAccount(account) ? own : { ...own, first_of: { $exists: false } }
  const removed = await Passkeys.findOneAndDelete(removable).lean<Passkey>()
  if (!removed) {
    if (!(await Passkeys.findOne(own).lean())) throw new AppError('PASSKEY_NOT_FOUND')
    throw new AppError('FORBIDDEN', { message: 'This passkey controls your smart account and cannot be removed' })
  }
  await endSessionsOf(context.node, caller, removed)
  await notifyOfChange(context, caller.account, {
    change: 'removed',
    method: 'passkey',
    identifier: passkeyNameOf(removed),
  })
  return done
}

/** Sessions of a removed passkey end, except the calling one. */
async function endSessionsOf(node: Node, { account, session }: SignedIn, { credential_id }: Passkey): Promise<void> {
  const [mine, begun] = await Promise.all([
    Sessions.findOne({ _id: session.id }).lean<SessionRecord>(),
    Sessions.find({ user_address: account, passkey_credential_id: credential_id }).lean<SessionRecord[]>(),
  ])
  const ends = new Map(begun.filter(({ family }) => family !== mine?.family).map(({ family, _id }) => [family, _id]))
  for (const id of ends.values()) await endSession(node, account, id)
}

export const checkMigration: Action<typeof contract.checkMigration> = async (input, { caller }) => {
  const { userAddress } = input
  const [account, passkeys] = await Promise.all([accountOf(userAddress), passkeysOf(userAddress)])
  const hasNewCredentials = passkeys.length > 0
  const hasOldCredentials = input.hasOldCredentials ?? false
  const status = hasNewCredentials ? 'MIGRATED' : hasOldCredentials ? 'NEEDS_MIGRATION' : 'NO_PASSKEY'
  return {
    userAddress,
    hasNewCredentials,
    newCredentialsCount: passkeys.length,
    hasOldCredentials,
    needsMigration: status === 'NEEDS_MIGRATION',
    userExists: account !== null,
    hasVerifiedEmail: isSameAccount(caller.account, userAddress) && account?.email !== undefined,
    status,
    message: messages[status],
  }
}

const messages = {
  MIGRATED: 'Passkeys of this account are here',
  NEEDS_MIGRATION: 'The passkeys of this account are from before: sign in another way and make a new one',
  NO_PASSKEY: 'This account has no passkey',
} as const
