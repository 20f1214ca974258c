import { formatUnits, getAddress, type Hex, isAddressEqual, zeroAddress } from 'viem'
import { createChainCache } from '#server/domains/rooms/tokens/chain-cache'
import { nativeOf, tokensOf, usdOf } from '#server/domains/rooms/tokens/known-tokens'
import type { Node } from '#server/kernel/context'
import type { Transfer } from '#server/ports/chain/port'
import { type ChainFacts, chainErrorOf, noEndpoint, type RequestedChain, requestedChains } from './chains.ts'

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
export async function transactionsOf(node: Node, address: Hex, list: string | undefined) {
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
