import { formatEther, type Hex } from 'viem'
import { knownPrices } from '#server/domains/payments/prices/now'
import { smartAccountFor } from '#server/domains/people/accounts/smart-account'
import { sumUsd } from '#server/domains/rooms/tokens/known-tokens'
import type { Node } from '#server/kernel/context'
import { fundsOn } from './balances.ts'
import { type ChainFacts, chainErrorOf, supportedChains } from './chains.ts'
import { accountWithSmart } from './own-wallet.ts'

/** A user's smart account on every chain. Unknown values are null, and count as nothing in the sums. */
export async function userWalletsOf(node: Node, id: string) {
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
