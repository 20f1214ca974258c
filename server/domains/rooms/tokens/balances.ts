import type { Hex } from 'viem'
import type { Chain } from '#server/ports/chain/port'
import { createChainCache } from './chain-cache.ts'
import type { Wallet } from './wallets.ts'

const keptSeconds = 10

const cachedBalances = createChainCache(async (chain, of) => {
  const [token, owner] = of.split(' ') as [Hex, Hex]
  return { amount: await chain.tokenBalance(token, owner), at: performance.now() }
}, keptSeconds)

/** The balances of a token at these addresses, cached for ten seconds; failures are not cached. */
export const balancesOf = (chain: Chain, token: Hex, wallets: readonly Wallet[], fresh: boolean) =>
  Promise.all(
    wallets.map(async (wallet) => {
      const of = `${token.toLowerCase()} ${wallet.address.toLowerCase()}`
      if (fresh) cachedBalances.forget(chain, of)
      const { amount, at } = await cachedBalances.of(chain, of)
      return { ...wallet, amount, ageSeconds: Math.floor((performance.now() - at) / 1_000) }
    }),
  )
