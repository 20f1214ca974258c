import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { wallet as contract } from '#shared/api/people/wallet'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { balancesOf, forgetBalances } from './balances.ts'
import { openPurchase } from './onramp.ts'
import { planRecovery, recoverySignerOf } from './recovery.ts'
import { safeStatusOf } from './safes.ts'
import { smartWalletOf } from './smart-wallet.ts'
import { transactionsOf } from './transactions.ts'
import { userWalletsOf } from './user-wallets.ts'

const refreshes = { most: 10, seconds: 60 }

export const wallet = defineDomain(contract, {
  smartWallet: ({ chainId }, context) => smartWalletOf(context.node, signedIn(context).account, chainId),

  async balances({ address, chains, refresh }, context) {
    const { node } = context
    const isAllowed =
      !refresh || (await node.limits.throttle('balances', signedIn(context).account, refreshes.most, refreshes.seconds))
    if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: refreshes.seconds })
    return balancesOf(node, address, chains, refresh)
  },

  refreshBalances({ address, chainId }, { node }) {
    forgetBalances(node, address, chainId)
    return done
  },

  transactions: ({ address, chain }, { node }) => transactionsOf(node, address, chain),

  safeStatus: ({ address, primarySigner }, { node }) => safeStatusOf(node, address, primarySigner),

  recoverySigner: ({ chainId }, context) => recoverySignerOf(context.node, signedIn(context).account, chainId),

  planRecoverySigner: ({ recoveryAddress, chainId }, context) =>
    planRecovery(context.node, signedIn(context).account, recoveryAddress, chainId),

  ofUser: ({ address }, { node }) => userWalletsOf(node, address),

  onramp: ({ walletAddress }, context) => openPurchase(context.node, signedIn(context).account, walletAddress),
})
