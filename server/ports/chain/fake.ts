import { AppError } from '#shared/errors'
import type { AuthorizedTransfer, Chain, TokenMetadata, Transfer } from './port.ts'

type Hex = Transfer['to']

interface Contract {
  /** The owners of a Safe; none for other contracts. */
  owners?: readonly Hex[]
  threshold?: number
  /** It is a contract of a token. */
  token?: TokenMetadata
  /** Which signatures it accepts. */
  accepts?(message: string, signature: Hex): boolean | Promise<boolean>
}

interface FakeChain extends Chain {
  /** Adds one transfer in a separate block; a transfer without a sender creates coins or tokens. */
  transfer(transfer: { from?: Hex; to: Hex; value: bigint; token?: Hex }): void
  deploy(address: Hex, contract?: Contract): void
  /** Carries out an authorized transfer. */
  authorize(transfer: AuthorizedTransfer, transaction: Hex): void
  /** The time of its newest block, in milliseconds. */
  newestAt: number
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

const nobody = `0x${'0'.repeat(40)}` as const
const same = (one: Hex | null, other: Hex | null) => one?.toLowerCase() === other?.toLowerCase()

/** A chain in memory that runs no contracts and indexes every transfer. It has one block for every two seconds since 1970. */
export function fakeChain(id: number): FakeChain {
  const made: Transfer[] = []
  const contracts = new Map<string, Contract>()
  const authorized = new Map<Hex, AuthorizedTransfer & { transaction: Hex }>()
  const contractAt = (address: Hex) => contracts.get(address.toLowerCase()) ?? null
  const amount = (owner: Hex, token: Hex | null) =>
    made
      .filter((transfer) => same(transfer.token, token))
      .reduce((sum, { from, to, value }) => sum + (same(to, owner) ? value : 0n) - (same(from, owner) ? value : 0n), 0n)
  const answer = async <Answer>(read: () => Answer | Promise<Answer>): Promise<Answer> => {
    if (chain.away) throw new AppError(chain.away, { message: 'The chain could not be asked' })
    return read()
  }
  const chain: FakeChain = {
    id,
    newestAt: 0,
    away: null,
    transfer({ from = nobody, to, value, token = null }) {
      const block = made.length + 1
      const hash = `0x${block.toString(16).padStart(64, '0')}` as const
      made.push({ hash, blockNumber: BigInt(block), timestamp: block * 2_000, from, to, value, token })
    },
    deploy: (address, contract = {}) => void contracts.set(address.toLowerCase(), contract),
    authorize: (transfer, transaction) => void authorized.set(transfer.nonce, { ...transfer, transaction }),
    balance: (address) => answer(() => amount(address, null)),
    tokenBalance: (token, owner) => answer(() => amount(owner, token)),
    token: (address) => answer(() => contractAt(address)?.token ?? null),
    isDeployed: (address) => answer(() => contractAt(address) !== null),
    safe: (address) =>
      answer(() => {
        const contract = contractAt(address)
        return contract && { owners: contract.owners ?? [], threshold: contract.threshold ?? 0 }
      }),
    gasPrice: () => answer(() => 1_000_000_000n),
    verifyMessage: (address, message, signature) =>
      answer(() => contractAt(address)?.accepts?.(message, signature) ?? false),
    verifyHash: (address, hash, signature) => answer(() => contractAt(address)?.accepts?.(hash, signature) ?? false),
    authorized: (_token, { from, to, value, nonce }) =>
      answer(() => {
        const used = authorized.get(nonce)
        if (!used) return { openAt: chain.newestAt }
        const isThis = same(used.from, from) && same(used.to, to) && used.value === value
        return isThis ? { transaction: used.transaction } : 'other'
      }),
    transfers: (address, tokens) =>
      answer(() => ({
        transfers: made
          .filter(({ from, to, value }) => value > 0n && (same(from, address) || same(to, address)))
          .filter(({ token }) => token === null || tokens.some((one) => same(one, token)))
          .toReversed()
          .slice(0, 100),
        fromBlock: 0n,
        nativeFromBlock: 0n,
        toBlock: BigInt(made.length),
      })),
  }
  return chain
}
