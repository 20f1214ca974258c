import { encodeFunctionData, getAddress, type Hex, isAddressEqual, parseAbi, zeroAddress } from 'viem'
import { safeProfile } from '#server/domains/accounts/safe-address'
import { isWalletAccount } from '#server/domains/accounts/smart-account'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { chainFor, noEndpoint, safeAppUrl } from './chains.ts'
import { smartAccountOf } from './own.ts'
import { signersOn } from './safes.ts'

export async function recoverySignerOf(node: Node, id: string, chainId: number | undefined) {
  const { facts, chain } = chainFor(node, chainId)
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
/** The mark that ends a Safe's list of owners. */
const sentinel = '0x0000000000000000000000000000000000000001'

/** The call that makes somebody a second owner. The owner signs it; nothing here can. */
export async function planRecovery(id: string, recovery: Hex) {
  const { smart } = await smartAccountOf(id)
  const taken = [zeroAddress, sentinel, smart.address, smart.signer, safeProfile.sharedSigner] as const
  if (taken.some((address) => isAddressEqual(address, recovery)))
    throw new AppError('VALIDATION_ERROR', {
      message: 'This address cannot be a recovery signer',
      details: { path: 'recoveryAddress' },
    })
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
