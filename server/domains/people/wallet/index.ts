import {
  encodeFunctionData,
  formatEther,
  formatUnits,
  getAddress,
  type Hex,
  isAddressEqual,
  isHex,
  parseAbi,
  zeroAddress,
} from 'viem'
import { knownPrices } from '#server/domains/payments/prices/index'
import { accountOf } from '#server/domains/people/accounts/accounts'
import type { Account } from '#server/domains/people/accounts/model'
import {
  isOwnAddress,
  isWalletAccount,
  type Passkey,
  type SmartAccount,
  safeProfile,
  smartAccountFor,
  storeSmartAccount,
} from '#server/domains/people/accounts/smart-account'
import { firstPasskeyOf, passkeyOf } from '#server/domains/people/passkeys/passkeys'
import { createChainCache, nativeOf, sumUsd, tokensOf, usdOf } from '#server/domains/rooms/tokens/gate'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { Transfer } from '#server/ports/chain/port'
import { wallet as contract } from '#shared/api/people/wallet'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import {
  type ChainFacts,
  chainErrorOf,
  chainOutput,
  noEndpoint,
  type RequestedChain,
  requestedChain,
  requestedChains,
  safeAppUrl,
  supportedChains,
} from './chains.ts'
import { balancesOf, forgetBalances, fundsOn, safeStatusOf, signersOn } from './safes.ts'

async function recoverySignerOf(node: Node, id: string, chainId: number | undefined) {
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
async function planRecovery(node: Node, id: string, recovery: Hex, chainId: number | undefined) {
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

async function smartWalletOf(node: Node, id: string, chainId: number | undefined) {
  const asked = requestedChain(node, chainId)
  const { account, smart } = await accountWithSmart(id)
  const common = {
    serviceId: id,
    needsPasskey: smart === null,
    walletType: smart?.credentialId == null ? account.wallet_type : 'passkey',
    supportedChains: supportedChains(node).map(chainOutput),
  }
  if (!smart)
    return {
      ...common,
      ...{ smartWalletAddress: null, passkeyCredentialId: null, isDeployed: false, canSign: false },
      ...{ signerType: 'none' as const, safeAppUrl: null },
      warning: 'Add a passkey to get a smart account',
    }
  const [deployed, signer] = await Promise.all([deploymentOf(asked, smart), signerOf(account, smart)])
  const warning = signer.warning ?? deployed.warning
  return {
    ...common,
    smartWalletAddress: smart.address,
    passkeyCredentialId: smart.credentialId,
    isDeployed: deployed.isDeployed,
    canSign: signer.canSign,
    signerType: smart.credentialId === null ? ('eoa' as const) : ('passkey' as const),
    safeAppUrl: safeAppUrl(asked.facts, smart.address),
    ...(warning === undefined ? {} : { warning }),
  }
}

async function deploymentOf({ chain }: RequestedChain, { address }: SmartAccount) {
  if (!chain) return { isDeployed: false }
  try {
    return { isDeployed: await chain.isDeployed(address) }
  } catch (error) {
    return { isDeployed: false, warning: chainErrorOf(error) }
  }
}

const signerGone = 'The passkey that controls this smart account is gone'

async function signerOf(account: Account, { credentialId }: SmartAccount) {
  if (credentialId === null) return { canSign: true }
  const canSign = isSameAccount((await passkeyOf(credentialId))?.user_address, account._id)
  return canSign ? { canSign } : { canSign, warning: signerGone }
}

const keptSeconds = 15
const most = 100

const cachedTransfers = createChainCache(
  (chain, address) =>
    chain.transfers(
      address as Hex,
      tokensOf(chain.id).map((token) => token.address),
    ),
  keptSeconds,
)

/** The latest transfers on the requested chains, newest first, with the searched range. */
async function transactionsOf(node: Node, address: Hex, list: string | undefined) {
  const searched = await Promise.all(requestedChains(node, list).map((asked) => searchOn(asked, address)))
  const transactions = searched
    .flatMap((one) => one.transactions)
    .sort((one, other) => other.timestamp - one.timestamp)
    .slice(0, most)
  return { transactions, count: transactions.length, address, coverage: searched.map(({ coverage }) => coverage) }
}

async function searchOn({ facts, chain }: RequestedChain, address: Hex) {
  const nothing = { chainId: facts.id, fromBlock: null, nativeFromBlock: null, toBlock: null }
  if (!chain) return { transactions: [], coverage: { ...nothing, error: noEndpoint(facts.id).message } }
  try {
    const { transfers, fromBlock, nativeFromBlock, toBlock } = await cachedTransfers.of(chain, address)
    return {
      transactions: transfers.map((transfer) => transferOutput(facts, address, transfer)),
      coverage: {
        chainId: facts.id,
        fromBlock: Number(fromBlock),
        nativeFromBlock: Number(nativeFromBlock),
        toBlock: Number(toBlock),
      },
    }
  } catch (error) {
    return { transactions: [], coverage: { ...nothing, error: chainErrorOf(error) } }
  }
}

function transferOutput(chain: ChainFacts, address: Hex, transfer: Transfer) {
  const { hash, from, to, value, timestamp } = transfer
  const contract = transfer.token ?? zeroAddress
  const token = tokensOf(chain.id).find((one) => isAddressEqual(one.address, contract)) ?? nativeOf(chain)
  return {
    hash,
    chainId: chain.id,
    chainName: chain.name,
    chainIcon: chain.icon,
    from: getAddress(from),
    to: getAddress(to),
    value: String(value),
    valueFormatted: formatUnits(value, token.decimals),
    valueUsd: usdOf(token, value),
    tokenSymbol: token.symbol,
    tokenName: token.name,
    tokenDecimals: token.decimals,
    contractAddress: token.address,
    timestamp,
    blockNumber: Number(transfer.blockNumber),
    type: isAddressEqual(from, address) ? ('send' as const) : ('receive' as const),
    explorerUrl: chain.explorerUrl && `${chain.explorerUrl}/tx/${hash}`,
  }
}

const refreshes = { most: 10, seconds: 60 }

export const wallet = defineDomain(contract, {
  smartWallet: ({ chainId }, context) => smartWalletOf(context.node, signedIn(context).account, chainId),

  async balances({ address, chains, refresh }, context) {
    const { node } = context
    const isAllowed =
      !refresh || (await node.limits.throttle('balances', signedIn(context).account, refreshes.most, refreshes.seconds))
    if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: refreshes.seconds })
    return balancesOf(node, address, chains, refresh)
  },

  refreshBalances({ address, chainId }, { node }) {
    forgetBalances(node, address, chainId)
    return done
  },

  transactions: ({ address, chain }, { node }) => transactionsOf(node, address, chain),

  safeStatus: ({ address, primarySigner }, { node }) => safeStatusOf(node, address, primarySigner),

  recoverySigner: ({ chainId }, context) => recoverySignerOf(context.node, signedIn(context).account, chainId),

  planRecoverySigner: ({ recoveryAddress, chainId }, context) =>
    planRecovery(context.node, signedIn(context).account, recoveryAddress, chainId),

  ofUser: ({ address }, { node }) => userWalletsOf(node, address),

  onramp: ({ walletAddress }, context) => openPurchase(context.node, signedIn(context).account, walletAddress),
})

/** A user's smart account on every chain. Unknown values are null, and count as nothing in the sums. */
async function userWalletsOf(node: Node, id: string) {
  const { smart } = await accountWithSmart(id, smartAccountFor)
  const prices = await knownPrices(node)
  const found = await Promise.all(
    supportedChains(node).map((facts) => walletOn(node, facts, smart?.address ?? null, prices[facts.coin ?? ''])),
  )
  const chains = found.map(({ hasFunds: _, ...chain }) => chain)
  return {
    userAddress: id,
    smartWalletAddress: smart?.address ?? null,
    deployedCount: chains.filter(({ isDeployed }) => isDeployed).length,
    totalChains: chains.length,
    totalBalanceUsd: sumUsd(chains.map(({ balanceUsd }) => balanceUsd)),
    chainsWithBalance: found.filter(({ hasFunds }) => hasFunds).length,
    chains,
  }
}

async function walletOn(node: Node, facts: ChainFacts, address: Hex | null, price: number | undefined) {
  const { id: chainId, name: chainName, symbol, color } = facts
  const nothing = {
    ...{ chainId, chainName, symbol, color, isDeployed: null, balance: null, balanceUsd: null },
    ...{ sponsored: false, hasFunds: false },
  }
  const chain = node.services.chains.get(chainId)
  if (!chain || address === null) return nothing
  try {
    const [isDeployed, funds] = await Promise.all([
      chain.isDeployed(address),
      fundsOn(chain, address.toLowerCase() as Hex),
    ])
    const balance = formatEther(funds.native)
    const worth = funds.native === 0n ? 0 : price === undefined ? null : price * Number(balance)
    const balanceUsd = worth === null ? null : sumUsd([worth, funds.usd])
    return { ...nothing, isDeployed, balance, balanceUsd, hasFunds: funds.some }
  } catch (error) {
    return { ...nothing, error: chainErrorOf(error) }
  }
}

/** Opens a purchase for the caller's smart account or, if named, their wallet; for no other address. */
async function openPurchase(node: Node, id: string, wanted: Hex | undefined) {
  const { onramp } = node.services
  if (!onramp) throw new AppError('SERVICE_UNAVAILABLE', { message: 'No onramp provider: ONRAMP_URL is not set' })
  const { account, smart } = await accountWithSmart(id)
  if (wanted !== undefined && !isOwnAddress(account, smart, wanted))
    throw new AppError('ACCESS_DENIED', { message: 'The address is not one of yours' })
  if (!smart) throw new AppError('WALLET_NOT_FOUND', { details: { needsWallet: true } })
  const chains = supportedChains(node).map(({ network }) => network)
  const { token, expiresAt } = await onramp.open(wanted ?? smart.address, chains)
  return { sessionToken: token, expiresAt: expiresAt.toISOString() }
}

/** An account with its smart account; null while nothing can own one. */
async function accountWithSmart(
  id: string,
  settle: (
    account: Account,
    passkey: Passkey | null,
  ) => Promise<SmartAccount | null> | SmartAccount | null = storeSmartAccount,
): Promise<{ account: Account; smart: SmartAccount | null }> {
  const account = await accountOf(id)
  if (!account) throw new AppError('USER_NOT_FOUND')
  const first = await firstPasskeyOf(id)
  const passkey = first && {
    credentialId: first.credential_id,
    x: hexOf(first.public_key_x),
    y: hexOf(first.public_key_y),
  }
  return { account, smart: await settle(account, passkey) }
}

async function smartAccountOf(id: string): Promise<{ account: Account; smart: SmartAccount }> {
  const { account, smart } = await accountWithSmart(id)
  if (!smart) throw new AppError('WALLET_NOT_FOUND', { details: { needsWallet: true } })
  return { account, smart }
}

function hexOf(coordinate: string): Hex {
  if (isHex(coordinate) && coordinate.length === 66) return coordinate
  throw new Error('A stored passkey has no point')
}
