import { getAddress, type Hex, isAddressEqual, isHex } from 'viem'
import { type Account, Accounts } from './model.ts'
import { type SafeOwner, safeAddressOf, safeProfile } from './safe-address.ts'

export interface SmartAccount {
  /** With checksum case. */
  address: Hex
  profile: string
  /** The passkey that owns it; null if the account's wallet does. */
  credentialId: string | null
  /** The signer: the wallet, or the contract that checks passkeys. */
  signer: Hex
}

export interface Passkey {
  credentialId: string
  /** The point of the public key, 32 bytes each. */
  x: Hex
  y: Hex
}

/** Ethereum wallets own a smart account from the start; other accounts need a passkey first. */
export const isWalletAccount = ({ _id, wallet_type, chain }: Account): boolean =>
  wallet_type === 'eoa' && chain !== 'solana' && isHex(_id)

/** The stored smart account; null before. */
export function smartAccountIn(account: Account): SmartAccount | null {
  const { smart_wallet_address: address, smart_wallet_profile: profile = '', _id } = account
  if (address === undefined) return null
  const credentialId = account.smart_wallet_credential_id ?? null
  const signer = credentialId === null && isHex(_id) ? getAddress(_id) : safeProfile.sharedSigner
  return { address: getAddress(address), profile, credentialId, signer }
}

/**
 * The smart account, computed and stored on first use. The stored one never changes, whatever passkeys are added or
 * lost. Null if neither a wallet nor a passkey can own one.
 */
export async function storeSmartAccount(account: Account, passkey: Passkey | null): Promise<SmartAccount | null> {
  const stored = smartAccountIn(account)
  if (stored) return stored
  const derived = deriveSmartAccount(account, passkey)
  if (!derived) return null
  const { _id } = account
  const won = await Accounts.findOneAndUpdate(
    { _id, smart_wallet_address: { $exists: false } },
    { $set: derived },
    { returnDocument: 'after' },
  ).lean<Account>()
  const settled = won ?? (await Accounts.findOne({ _id }).lean<Account>())
  return settled && smartAccountIn(settled)
}

/** The same without storing it, for viewers of another account. */
export function smartAccountFor(account: Account, passkey: Passkey | null): SmartAccount | null {
  const derived = deriveSmartAccount(account, passkey)
  return smartAccountIn(account) ?? (derived && smartAccountIn({ ...account, ...derived }))
}

/** Clears the wallet of an account, so that the next sign-in sets it. */
export async function clearWallet(id: string, at: number): Promise<void> {
  const smart = {
    smart_wallet_address: '',
    smart_wallet_profile: '',
    smart_wallet_credential_id: '',
    smart_wallet_x: '',
    smart_wallet_y: '',
  }
  await Accounts.updateOne(
    { _id: id },
    { $unset: smart, $set: { wallet_type: null, chain: null, updated_at: new Date(at) } },
  )
}

function deriveSmartAccount(account: Account, passkey: Passkey | null): Partial<Account> | null {
  if (isWalletAccount(account) && isHex(account._id)) return addressFields(account._id)
  if (!passkey) return null
  const { credentialId, x, y } = passkey
  return {
    ...addressFields({ x, y }),
    wallet_type: 'passkey',
    smart_wallet_credential_id: credentialId,
    smart_wallet_x: x,
    smart_wallet_y: y,
  }
}

const addressFields = (owner: SafeOwner): Partial<Account> => ({
  smart_wallet_address: safeAddressOf(owner).toLowerCase(),
  smart_wallet_profile: safeProfile.name,
})

/** Is the address the account's wallet or smart account? */
export const isOwnAddress = (account: Account, smartAccount: SmartAccount | null, address: Hex): boolean =>
  account._id === address.toLowerCase() || (smartAccount !== null && isAddressEqual(smartAccount.address, address))
