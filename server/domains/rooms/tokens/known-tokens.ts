import { formatUnits, type Hex, zeroAddress } from 'viem'
import { networks } from '#shared/api/payments/payment-networks'

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
