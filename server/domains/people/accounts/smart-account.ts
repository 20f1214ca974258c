import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  getAddress,
  getCreate2Address,
  type Hex,
  isAddressEqual,
  isHex,
  keccak256,
  parseAbi,
  size,
  zeroAddress,
} from 'viem'
import { type Account, Accounts } from './model.ts'

/**
 * The contracts from which an account's address follows. Other contracts give other addresses, so an address is stored
 * with its profile's name. A profile never changes.
 */
export const safeProfile = {
  name: 'safe-1.4.1-l2/4337-0.3.0/passkey-0.2.1',
  proxyFactory: '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
  singleton: '0x29fcB43b46531BcA003ddC8FCB67FFE91900C762',
  /** keccak256 of the proxy's creation code followed by the padded singleton. */
  proxyCodeHash: '0xe298282cefe913ab5d282047161268a8222e4bd4ed106300c547894bbefd31ee',
  multiSend: '0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526',
  moduleSetup: '0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47',
  module4337: '0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226',
  sharedSigner: '0x94a4F6affBd8975951142c3999aEAB7ecee555c2',
  /** The P-256 precompile at 0x0100, then the contract for chains without one. */
  verifiers: 0x0100c2b78104907f722dabac4c69f826a522b2754de4n,
} as const

/** A P-256 public key. */
interface PasskeyOwner {
  x: Hex
  y: Hex
}

/** The owner's key: of a wallet, its address; of a passkey, its point. */
export type SafeOwner = Hex | PasskeyOwner

const abi = parseAbi([
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  'function enableModules(address[] modules)',
  'function multiSend(bytes transactions)',
  'function configure((uint256 x, uint256 y, uint176 verifiers) signer)',
])

/** The owner's account address on every chain with the profile's contracts, deployed or not. */
export function safeAddressOf(owner: SafeOwner, saltNonce = 0n): Hex {
  const salt = keccak256(
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [keccak256(safeInitializer(owner)), saltNonce]),
  )
  return getCreate2Address({ from: safeProfile.proxyFactory, salt, bytecodeHash: safeProfile.proxyCodeHash })
}

/** The setup call of a new account, from which its address follows. */
export function safeInitializer(owner: SafeOwner): Hex {
  const { moduleSetup, module4337, multiSend, sharedSigner, verifiers } = safeProfile
  const enable = encodeFunctionData({ abi, functionName: 'enableModules', args: [[module4337]] })
  if (typeof owner === 'string') return setup(owner, moduleSetup, enable)
  const signer = { x: BigInt(owner.x), y: BigInt(owner.y), verifiers }
  const configure = encodeFunctionData({ abi, functionName: 'configure', args: [signer] })
  const transactions = concatHex([delegateCall(moduleSetup, enable), delegateCall(sharedSigner, configure)])
  return setup(sharedSigner, multiSend, encodeFunctionData({ abi, functionName: 'multiSend', args: [transactions] }))
}

const setup = (owner: Hex, to: Hex, data: Hex): Hex =>
  encodeFunctionData({
    abi,
    functionName: 'setup',
    args: [[owner], 1n, to, data, safeProfile.module4337, zeroAddress, 0n, zeroAddress],
  })

const delegateCall = (to: Hex, data: Hex): Hex =>
  encodePacked(['uint8', 'address', 'uint256', 'uint256', 'bytes'], [1, to, 0n, BigInt(size(data)), data])

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
