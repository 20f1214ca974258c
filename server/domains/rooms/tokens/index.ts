import { getAddress, isAddressEqual } from 'viem'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { tokens as contract } from '#shared/api/rooms/tokens'
import { AppError } from '#shared/errors'
import { balancesOf } from './balances.ts'
import { chainOf } from './gate.ts'
import { tokensOf } from './known-tokens.ts'
import { tokenAt } from './metadata.ts'
import { walletsOf } from './wallets.ts'

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
