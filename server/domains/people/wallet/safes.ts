import { formatEther, formatGwei, formatUnits, getAddress, type Hex, isAddressEqual, zeroAddress } from 'viem'
import { createChainCache, nativeOf, sumUsd, type TokenFacts, tokensOf, usdOf } from '#server/domains/rooms/tokens/gate'
import type { Node } from '#server/kernel/context'
import type { Chain } from '#server/ports/chain/port'
import { isSameAccount } from '#shared/kit/accounts'
import { chainErrorOf, chainOutput, noEndpoint, type RequestedChain, requestedChains, safeAppUrl } from './chains.ts'

const balanceKeptSeconds = 30

const amounts = createChainCache(async (chain, address) => {
  const owner = address as Hex
  const [native, ...tokens] = await Promise.all([
    chain.balance(owner),
    ...tokensOf(chain.id).map((token) => chain.tokenBalance(token.address, owner)),
  ])
  return { native, tokens }
}, balanceKeptSeconds)

/** The balances of an address on each requested chain; a failed chain reports its error beside the others. */
export async function balancesOf(node: Node, address: Hex, list: string | undefined, fresh: boolean) {
  const asked = requestedChains(node, list)
  if (fresh) forgetBalances(node, address)
  const balances = await Promise.all(asked.map((one) => balanceOn(one, address)))
  const totalUsd = sumUsd(balances.map((balance) => balance.totalUsd))
  return { address, balances, totalUsd, lastUpdated: new Date(node.now()).toISOString() }
}

export function forgetBalances(node: Node, address: Hex, chainId?: number): void {
  for (const [id, chain] of node.services.chains)
    if (chainId === undefined || id === chainId) amounts.forget(chain, address)
}

/** The coin, the value of priced tokens, and whether there is any amount. */
export async function fundsOn(chain: Chain, address: Hex): Promise<{ native: bigint; usd: number; some: boolean }> {
  const { native, tokens } = await amounts.of(chain, address)
  const usd = sumUsd(tokensOf(chain.id).map((token, at) => usdOf(token, tokens[at] ?? 0n)))
  return { native, usd, some: [native, ...tokens].some((amount) => amount > 0n) }
}

async function balanceOn({ facts, chain }: RequestedChain, address: Hex) {
  const nothing = { chain: chainOutput(facts), nativeBalance: null, tokens: [], totalUsd: 0, source: 'rpc' as const }
  if (!chain) return { ...nothing, error: noEndpoint(facts.id).message }
  try {
    const { native, tokens } = await amounts.of(chain, address)
    const listed = tokensOf(chain.id)
      .map((token, at) => balanceOutput(token, tokens[at] ?? 0n))
      .filter(({ balance }) => balance !== '0')
    const nativeBalance = balanceOutput(nativeOf(facts), native)
    const totalUsd = sumUsd([nativeBalance, ...listed].map(({ balanceUsd }) => balanceUsd))
    return { ...nothing, nativeBalance, tokens: listed, totalUsd }
  } catch (error) {
    return { ...nothing, error: chainErrorOf(error) }
  }
}

const balanceOutput = (token: TokenFacts, amount: bigint) => ({
  contractAddress: token.address,
  symbol: token.symbol,
  name: token.name,
  decimals: token.decimals,
  balance: String(amount),
  balanceFormatted: formatUnits(amount, token.decimals),
  balanceUsd: usdOf(token, amount),
  tokenType: isSameAccount(token.address, zeroAddress) ? ('native' as const) : ('erc20' as const),
})

const keptSeconds = 10
/** The gas for creating a smart account with its first owner, rounded up. */
const deploymentGas = 400_000n

const states = createChainCache((chain, address) => chain.safe(address as Hex), keptSeconds)

/** The state of an address on every chain with an endpoint. */
export async function safeStatusOf(node: Node, address: Hex, primarySigner: Hex | undefined) {
  const asked = requestedChains(node, undefined)
  const found = await Promise.all(asked.map((one) => statusOn(one, address, primarySigner)))
  const chains = found.map(({ hasFunds: _, ...chain }) => chain)
  const deployed = chains.filter(({ isDeployed }) => isDeployed)
  return {
    safeAddress: getAddress(address),
    primarySigner: primarySigner ? getAddress(primarySigner) : null,
    chains,
    summary: {
      totalChains: chains.length,
      deployedChains: deployed.length,
      chainsWithFunds: found.filter(({ hasFunds }) => hasFunds).length,
      chainsWithRecovery: deployed.filter(({ hasRecoverySigner }) => hasRecoverySigner).length,
      chainsNeedingRecovery: deployed.filter(({ hasRecoverySigner }) => !hasRecoverySigner).length,
      totalBalanceUsd: chains.reduce((sum, { balanceUsd }) => sum + balanceUsd, 0),
    },
  }
}

async function statusOn({ facts, chain }: RequestedChain, address: Hex, primarySigner: Hex | undefined) {
  const nothing = {
    ...{ chainId: facts.id, chainName: facts.name, symbol: facts.symbol, explorer: facts.explorerUrl },
    ...{ isDeployed: false, owners: [], threshold: 0, hasRecoverySigner: false, primarySigner: null },
    ...{ balanceUsd: 0, safeAppUrl: safeAppUrl(facts, getAddress(address)), deploymentEstimate: null, hasFunds: false },
  }
  if (!chain) return nothing
  try {
    const [state, funds] = await Promise.all([signersOn(chain, address, primarySigner), fundsOn(chain, address)])
    const deploymentEstimate = state.isDeployed ? null : await estimateOn(chain)
    const { recoverySigners: _, ...signers } = state
    return { ...nothing, ...signers, balanceUsd: funds.usd, hasFunds: funds.some, deploymentEstimate }
  } catch (error) {
    return { ...nothing, error: chainErrorOf(error) }
  }
}

/** The owners of a Safe on one chain; all except the first signer are for recovery. */
export async function signersOn(chain: Chain, address: Hex, primarySigner: Hex | undefined) {
  const state = await states.of(chain, address.toLowerCase())
  const owners = [...(state?.owners ?? [])]
  const primary = owners.find((owner) => (primarySigner ? isAddressEqual(owner, primarySigner) : owners.length === 1))
  const recoverySigners = owners.length > 1 ? owners.filter((owner) => owner !== primary) : []
  return {
    isDeployed: state !== null,
    owners,
    threshold: state?.threshold ?? 0,
    hasRecoverySigner: recoverySigners.length > 0,
    recoverySigners,
    primarySigner: primary ?? null,
  }
}

async function estimateOn(chain: Chain) {
  const price = await chain.gasPrice()
  return {
    gasUnits: Number(deploymentGas),
    gasPriceGwei: Number(formatGwei(price)),
    estimatedCostEth: formatEther(price * deploymentGas),
    estimatedCostUsd: null,
    isSponsored: false,
  }
}
