import { getAddress, type Hex } from 'viem'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { nameLine } from '#shared/kit/primitives'
import { createChainCache } from './chain-cache.ts'
import { chainOf } from './gate.ts'

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
