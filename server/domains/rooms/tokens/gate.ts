import { formatUnits, getAddress, type Hex, isAddressEqual, isHex, zeroAddress } from 'viem'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { isWalletAccount, smartAccountIn } from '#server/domains/people/accounts/smart-account'
import { defineGate } from '#server/domains/rooms/gates/define'
import type { Node } from '#server/kernel/context'
import { createAnswerCache } from '#server/kernel/store/kept-answers'
import type { Chain } from '#server/ports/chain/port'
import { networks } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'
import { amountText } from '#shared/kit/amounts'

const keptAtMost = 5_000

/** A cache of answers by chain and address. */
export function createChainCache<Answer>(ask: (chain: Chain, address: string) => Promise<Answer>, seconds: number) {
  const bounds = { secondsOf: () => seconds, weightOf: () => 0, mostWeight: keptAtMost }
  const chains = new WeakMap<Chain, ReturnType<typeof createAnswerCache<Answer>>>()
  const keptOf = (chain: Chain) => {
    const kept = chains.get(chain) ?? createAnswerCache<Answer>(bounds)
    chains.set(chain, kept)
    return kept
  }
  return {
    of: async (chain: Chain, address: string): Promise<Answer> =>
      (await keptOf(chain).of(address, () => ask(chain, address))).answer,
    forget: (chain: Chain, address: string): void => keptOf(chain).forget(address),
  }
}

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

export const balanceGate = defineGate('balance', {
  lasts: () => true,
  async check({ node, account, gate, fresh }) {
    const { chain_id, token_decimals, token_symbol, min_balance } = gate
    const shown = (amount: bigint) => `${amountText(amount, token_decimals)} ${token_symbol}`
    const required = BigInt(min_balance)
    const wallets = await walletsOf(account)
    const found = await balancesOf(chainOf(node, chain_id), tokenOf(gate), wallets, fresh)
    const total = found.reduce((sum, { amount }) => sum + amount, 0n)
    const passed = total >= required
    return {
      passed,
      text: passed ? `You hold ${shown(total)}` : `You need ${shown(required)} and hold ${shown(total)}`,
      checked: found.map(({ address, amount, ageSeconds }) => ({
        requirement: `at least ${shown(required)} in all`,
        subject: address,
        result: shown(amount),
        source: `chain ${chain_id}`,
        cached_age_s: ageSeconds,
      })),
      details: {
        required: min_balance,
        actual: String(total),
        symbol: token_symbol,
        breakdown: found.map(({ label, amount }) => ({ label, balance: String(amount) })),
        walletsChecked: found.length,
      },
    }
  },
})

export function chainOf({ services }: Node, id: number) {
  const chain = services.chains.get(id)
  if (!chain) throw new AppError('SERVICE_UNAVAILABLE', { message: `No chain can be asked: RPC_URL_${id} is not set` })
  return chain
}

const tokenOf = ({ token_address }: { token_address: string }): Hex => {
  if (!isHex(token_address)) throw new Error('A stored token has no address')
  return getAddress(token_address)
}

export interface TokenFacts {
  address: Hex
  symbol: string
  name: string
  decimals: number
  /** The fixed value of one token, if it has one. */
  usd: number | null
}

const usdc = (address: Hex, decimals = 6): TokenFacts => ({
  ...{ address, symbol: 'USDC', name: 'USD Coin', decimals, usd: 1 },
})
const usdt = (address: Hex, decimals = 6): TokenFacts => ({
  ...{ address, symbol: 'USDT', name: 'Tether USD', decimals, usd: 1 },
})
const weth = (address: Hex): TokenFacts => ({
  ...{ address, symbol: 'WETH', name: 'Wrapped Ether', decimals: 18, usd: null },
})

const rollupWeth = weth('0x4200000000000000000000000000000000000006')

const { base, 'base-sepolia': sepolia } = networks
const byChain: { readonly [id: number]: readonly TokenFacts[] } = {
  1: [
    usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
    usdt('0xdAC17F958D2ee523a2206206994597C13D831ec7'),
    weth('0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'),
  ],
  10: [
    usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
    usdt('0x94b008aA00579c1307B0EF2c499aD98a8ce58e58'),
    rollupWeth,
  ],
  56: [usdc('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18), usdt('0x55d398326f99059fF775485246999027B3197955', 18)],
  130: [usdc('0x078D782b760474a361dDA0AF3839290b0EF57AD6'), rollupWeth],
  137: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'), usdt('0xc2132D05D31c914a87C6611C10748AEb04B58e8F')],
  [base.chainId]: [usdc(base.asset), rollupWeth],
  42161: [
    usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
    usdt('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'),
    weth('0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'),
  ],
  43114: [usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'), usdt('0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7')],
  [sepolia.chainId]: [usdc(sepolia.asset), rollupWeth],
  11155111: [usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238')],
}

/** The known tokens of a chain; others may be made by anybody, under any name. */
export const tokensOf = (chain: number): readonly TokenFacts[] => byChain[chain] ?? []

export const nativeOf = ({ symbol }: { symbol: string }): TokenFacts => ({
  ...{ address: zeroAddress, symbol, name: symbol, decimals: 18, usd: null },
})

export const usdOf = ({ usd, decimals }: TokenFacts, amount: bigint): number | null =>
  usd === null ? null : usd * Number(formatUnits(amount, decimals))

export const sumUsd = (amounts: readonly (number | null)[]): number =>
  Math.round(amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0) * 100) / 100

interface Wallet {
  label: string
  address: Hex
}

/** The addresses whose tokens count for an account: its wallet and its stored smart account. */
export async function walletsOf(id: string): Promise<Wallet[]> {
  const account = await accountOf(id)
  if (!account) return []
  const smart = smartAccountIn(account)
  const own = isWalletAccount(account) && isHex(account._id) ? [{ label: 'Wallet', address: account._id }] : []
  if (!smart || own.some(({ address }) => isAddressEqual(address, smart.address))) return own
  return [...own, { label: 'Smart account', address: smart.address.toLowerCase() as Hex }]
}
