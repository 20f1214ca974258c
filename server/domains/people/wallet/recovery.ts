import { encodeFunctionData, getAddress, type Hex, isAddressEqual, parseAbi, zeroAddress } from 'viem'
import { safeProfile } from '#server/domains/people/accounts/safe-address'
import { isWalletAccount, type SmartAccount } from '#server/domains/people/accounts/smart-account'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { noEndpoint, requestedChain, safeAppUrl } from './chains.ts'
import { smartAccountOf } from './own-wallet.ts'
import { signersOn } from './safes.ts'

export async function recoverySignerOf(node: Node, id: string, chainId: number | undefined) {
  const { facts, chain } = requestedChain(node, chainId)
  const { account, smart } = await smartAccountOf(id)
  if (!chain) throw noEndpoint(chainId)
  const { primarySigner: _, ...signers } = await signersOn(chain, smart.address, smart.signer)
  return {
    safeAddress: smart.address,
    primarySigner: smart.signer,
    isWalletUser: isWalletAccount(account),
    ...signers,
    address: signers.recoverySigners[0] ?? null,
    safeAppUrl: safeAppUrl(facts, smart.address),
  }
}

const ownersAbi = parseAbi(['function addOwnerWithThreshold(address owner, uint256 threshold)'])
/** The end marker in a Safe's list of owners. */
const sentinel = '0x0000000000000000000000000000000000000001'

/** The gas of the call, rounded up. */
const callGas = 120_000n

/** The call that adds a second owner. Only the present owner can sign it. */
export async function planRecovery(node: Node, id: string, recovery: Hex, chainId: number | undefined) {
  const { smart } = await smartAccountOf(id)
  const taken = [zeroAddress, sentinel, smart.address, smart.signer, safeProfile.sharedSigner] as const
  if (taken.some((address) => isAddressEqual(address, recovery)))
    throw new AppError('VALIDATION_ERROR', {
      message: 'This address cannot be a recovery signer',
      details: { path: 'recoveryAddress' },
    })
  if (chainId !== undefined) await refuseOn(node, chainId, smart, recovery)
  const recoveryAddress = getAddress(recovery)
  return {
    message: 'The address can become a recovery signer. It is one when the call is on the chain.',
    recoveryAddress,
    instructions: [
      'Send the transaction from the smart account, signed by its owner, on each chain where it is to hold.',
      'Where the smart account is not deployed yet, its first transaction deploys it and may carry this call.',
      'Afterwards either signer alone can sign for the smart account.',
    ],
    transaction: {
      to: smart.address,
      value: '0',
      data: encodeFunctionData({ abi: ownersAbi, functionName: 'addOwnerWithThreshold', args: [recoveryAddress, 1n] }),
    },
  }
}

/** Throws if the call cannot be executed on this chain now. The smart account or its owning wallet pays the gas. */
async function refuseOn(node: Node, chainId: number, smart: SmartAccount, recovery: Hex): Promise<void> {
  const { chain } = requestedChain(node, chainId)
  if (!chain) throw noEndpoint(chainId)
  const { isDeployed, owners, threshold } = await signersOn(chain, smart.address, smart.signer)
  if (!isDeployed) throw new AppError('SAFE_NOT_DEPLOYED')
  const isOwner = (address: Hex) => owners.some((owner) => isAddressEqual(owner, address))
  if (isOwner(recovery)) throw new AppError('TRANSACTION_FAILED', { message: 'The address is a signer already' })
  if (!isOwner(smart.signer) || threshold !== 1)
    throw new AppError('TRANSACTION_FAILED', { message: 'Your first signer alone cannot change the smart account' })
  const payers = smart.credentialId === null ? [smart.address, smart.signer] : [smart.address]
  const [price, ...funds] = await Promise.all([chain.gasPrice(), ...payers.map((payer) => chain.balance(payer))])
  if (funds.every((native) => native < price * callGas)) throw new AppError('INSUFFICIENT_BALANCE')
}
