import type { Node } from '#server/kernel/context'
import type { Chain } from '#server/ports/chain/port'
import { networks } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'

export interface ChainFacts {
  id: number
  name: string
  network: string
  symbol: string
  icon: string
  color: string
  explorerUrl: string | null
  /** The chain's name in the Safe web app; null if it has none. */
  safeApp: string | null
  /** The coin whose price the chain's own coin has; null if it has none. */
  coin: string | null
}

const { base, 'base-sepolia': sepolia } = networks

const knownChains = [
  ['1', 'Ethereum', 'ethereum', 'ETH', '#627eea', 'https://etherscan.io', 'eth', 'ETH'],
  [base.chainId, base.title, base.network, 'ETH', '#0052ff', base.explorer, 'base', 'ETH'],
  ['10', 'OP Mainnet', 'optimism', 'ETH', '#ff0420', 'https://optimistic.etherscan.io', 'oeth', 'ETH'],
  ['42161', 'Arbitrum One', 'arbitrum', 'ETH', '#28a0f0', 'https://arbiscan.io', 'arb1', 'ETH'],
  ['137', 'Polygon', 'polygon', 'POL', '#8247e5', 'https://polygonscan.com', 'matic', null],
  ['56', 'BNB Smart Chain', 'bsc', 'BNB', '#f0b90b', 'https://bscscan.com', 'bnb', 'BNB'],
  ['43114', 'Avalanche', 'avalanche', 'AVAX', '#e84142', 'https://snowtrace.io', 'avax', 'AVAX'],
  ['130', 'Unichain', 'unichain', 'ETH', '#ff007a', 'https://uniscan.xyz', 'unichain', 'ETH'],
  [sepolia.chainId, sepolia.title, sepolia.network, 'ETH', '#0052ff', sepolia.explorer, 'basesep', null],
  ['11155111', 'Sepolia', 'sepolia', 'ETH', '#627eea', 'https://sepolia.etherscan.io', 'sep', null],
] as const

const facts: ReadonlyMap<number, ChainFacts> = new Map(
  knownChains.map(([id, name, network, symbol, color, explorerUrl, safeApp, coin]) => [
    Number(id),
    { id: Number(id), name, network, symbol, icon: network, color, explorerUrl, safeApp, coin },
  ]),
)

/** zkSync chains compute other contract addresses, so our smart accounts are not there. */
const otherAddresses = new Set([324, 300, 232])

const unknownChain = (id: number): ChainFacts => ({
  ...{ id, name: `Chain ${id}`, network: String(id), symbol: 'ETH', icon: 'chain', color: '#888888' },
  ...{ explorerUrl: null, safeApp: null, coin: null },
})

/** A chain of accounts: a known one, or one with an endpoint. */
function chainFacts({ services }: Node, id: number): ChainFacts {
  const found = facts.get(id) ?? (services.chains.has(id) ? unknownChain(id) : undefined)
  if (!found || otherAddresses.has(id)) throw new AppError('CHAIN_NOT_SUPPORTED')
  return found
}

export const supportedChains = (node: Node): ChainFacts[] =>
  [...new Set([...facts.keys(), ...node.services.chains.keys()])]
    .filter((id) => !otherAddresses.has(id))
    .map((id) => chainFacts(node, id))

export interface RequestedChain {
  facts: ChainFacts
  chain: Chain | null
}

/** The chains of a list of ids and names; by default those with an endpoint. Refuses if none has one. */
export function requestedChains(node: Node, list: string | undefined): RequestedChain[] {
  const names = list?.split(',').map((name) => name.trim().toLowerCase())
  const ids = names?.filter(Boolean).map((name) => chainNamed(node, name)) ?? [...node.services.chains.keys()]
  const asked = [...new Set(ids)]
    .filter((id) => list !== undefined || !otherAddresses.has(id))
    .map((id) => ({ facts: chainFacts(node, id), chain: node.services.chains.get(id) ?? null }))
  if (asked.every(({ chain }) => chain === null)) throw noEndpoint(asked[0]?.facts.id)
  return asked
}

function chainNamed(node: Node, name: string): number {
  if (/^\d{1,15}$/.test(name)) return Number(name)
  const found = supportedChains(node).find(({ network }) => network === name)
  if (!found) throw new AppError('CHAIN_NOT_SUPPORTED')
  return found.id
}

/** The named chain; else Base, else the first with an endpoint. */
export function requestedChain(node: Node, id: number | undefined): RequestedChain {
  const { chains } = node.services
  const others = [...chains.keys()].filter((one) => !otherAddresses.has(one))
  const chosen = id ?? (chains.has(base.chainId) ? base.chainId : (others[0] ?? base.chainId))
  return { facts: chainFacts(node, chosen), chain: chains.get(chosen) ?? null }
}

export const noEndpoint = (id: number | undefined): AppError =>
  new AppError('SERVICE_UNAVAILABLE', { message: `No chain can be asked: RPC_URL_${id ?? '<chainId>'} is not set` })

export const chainOutput = ({ safeApp: _, coin: __, ...facts }: ChainFacts) => facts

export const safeAppUrl = ({ safeApp }: ChainFacts, address: string): string | null =>
  safeApp && `https://app.safe.global/home?safe=${safeApp}:${address}`

/** The failure of one chain, beside the answers of others. */
export const chainErrorOf = (error: unknown): string => {
  if (error instanceof AppError) return error.message
  throw error
}
