import { formatUnits, type Hex, zeroAddress } from 'viem'
import { createChainCache } from '#server/domains/rooms/tokens/chain-cache'
import { nativeOf, sumUsd, type TokenFacts, tokensOf, usdOf } from '#server/domains/rooms/tokens/known-tokens'
import type { Node } from '#server/kernel/context'
import type { Chain } from '#server/ports/chain/port'
import { isSameAccount } from '#shared/kit/accounts'
import { chainErrorOf, chainOutput, noEndpoint, type RequestedChain, requestedChains } from './chains.ts'

const keptSeconds = 30

const amounts = createChainCache(async (chain, address) => {
  const owner = address as Hex
  const [native, ...tokens] = await Promise.all([
    chain.balance(owner),
    ...tokensOf(chain.id).map((token) => chain.tokenBalance(token.address, owner)),
  ])
  return { native, tokens }
}, keptSeconds)

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
