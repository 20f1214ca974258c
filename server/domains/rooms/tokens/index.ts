import { getAddress, type Hex, isAddressEqual } from 'viem'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { tokens as contract } from '#shared/api/rooms/tokens'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { nameLine } from '#shared/kit/primitives'
import { balancesOf, chainOf, createChainCache, tokensOf, walletsOf } from './gate.ts'

const keptSeconds = 60
const longest = { name: 64, symbol: 16 }

const cachedTokens = createChainCache((chain, address) => chain.token(address as Hex), keptSeconds)

/** The contract's data of a token, cleaned for display. Refuses if there is no token. */
export async function tokenAt(node: Node, chainId: number, address: Hex) {
  const found = await cachedTokens.of(chainOf(node, chainId), address)
  if (!found) throw new AppError('VALIDATION_ERROR', { message: 'There is no ERC-20 or ERC-721 token at this address' })
  const { decimals, owner } = found
  const short = `${getAddress(address).slice(0, 8)}…`
  return {
    name: displayedText(found.name, longest.name) ?? short,
    symbol: displayedText(found.symbol, longest.symbol) ?? short,
    decimals,
    owner,
  }
}

/** A contract's text in one line, without invisible characters and shortened. */
function displayedText(text: string, length: number): string | null {
  const plain = cut(text, 1_000).replace(/[\p{C}\p{Z}\s]+/gu, ' ')
  const { data } = nameLine(1, length).safeParse(cut(plain.trim(), length))
  return data ?? null
}

const totalOf = (held: readonly { amount: bigint }[]) => String(held.reduce((sum, { amount }) => sum + amount, 0n))

export const tokens = defineDomain(contract, {
  async info({ address, chainId }, { node, caller }) {
    const { owner, ...facts } = await tokenAt(node, chainId, address)
    const wallets = caller.account === null ? null : await walletsOf(caller.account)
    const held = wallets && (await balancesOf(chainOf(node, chainId), getAddress(address), wallets, false))
    return {
      ...{ address, chainId, ...facts, ownerAddress: owner, isDeployer: null },
      isOwner: owner !== null && wallets?.some((wallet) => isAddressEqual(wallet.address, owner)) === true,
      userBalance: held && totalOf(held),
    }
  },

  async suggest(_input, context) {
    const { node } = context
    const wallets = await walletsOf(signedIn(context).account)
    const known = [...node.services.chains.values()].flatMap((chain) =>
      tokensOf(chain.id).map((token) => ({ chain, token })),
    )
    const found = await Promise.all(
      known.map(async ({ chain, token: { address, name, symbol, decimals } }) => {
        const held = await balancesOf(chain, address, wallets, false).catch(ignoreUnreachable)
        const balance = totalOf(held)
        return { address: address.toLowerCase(), chainId: chain.id, name, symbol, decimals, balance }
      }),
    )
    return {
      tokens: found.filter(({ balance }) => balance !== '0'),
      walletSources: wallets.map(({ label, address }) => ({ label, address })),
    }
  },
})

/** A chain without an answer is left out. */
function ignoreUnreachable(error: unknown): [] {
  if (error instanceof AppError) return []
  throw error
}
