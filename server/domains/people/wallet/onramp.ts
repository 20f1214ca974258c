import type { Hex } from 'viem'
import { isOwnAddress } from '#server/domains/people/accounts/smart-account'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { supportedChains } from './chains.ts'
import { accountWithSmart } from './own-wallet.ts'

/** Opens a purchase for the caller's smart account or, if named, their wallet; for no other address. */
export async function openPurchase(node: Node, id: string, wanted: Hex | undefined) {
  const { onramp } = node.services
  if (!onramp) throw new AppError('SERVICE_UNAVAILABLE', { message: 'No onramp provider: ONRAMP_URL is not set' })
  const { account, smart } = await accountWithSmart(id)
  if (wanted !== undefined && !isOwnAddress(account, smart, wanted))
    throw new AppError('ACCESS_DENIED', { message: 'The address is not one of yours' })
  if (!smart) throw new AppError('WALLET_NOT_FOUND', { details: { needsWallet: true } })
  const chains = supportedChains(node).map(({ network }) => network)
  const { token, expiresAt } = await onramp.open(wanted ?? smart.address, chains)
  return { sessionToken: token, expiresAt: expiresAt.toISOString() }
}
