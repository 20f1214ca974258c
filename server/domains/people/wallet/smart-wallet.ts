import type { Account } from '#server/domains/people/accounts/model'
import type { SmartAccount } from '#server/domains/people/accounts/smart-account'
import { passkeyOf } from '#server/domains/people/passkeys/passkeys'
import type { Node } from '#server/kernel/context'
import { isSameAccount } from '#shared/kit/accounts'
import {
  chainErrorOf,
  chainOutput,
  type RequestedChain,
  requestedChain,
  safeAppUrl,
  supportedChains,
} from './chains.ts'
import { accountWithSmart } from './own-wallet.ts'

export async function smartWalletOf(node: Node, id: string, chainId: number | undefined) {
  const asked = requestedChain(node, chainId)
  const { account, smart } = await accountWithSmart(id)
  const common = {
    serviceId: id,
    needsPasskey: smart === null,
    walletType: smart?.credentialId == null ? account.wallet_type : 'passkey',
    supportedChains: supportedChains(node).map(chainOutput),
  }
  if (!smart)
    return {
      ...common,
      ...{ smartWalletAddress: null, passkeyCredentialId: null, isDeployed: false, canSign: false },
      ...{ signerType: 'none' as const, safeAppUrl: null },
      warning: 'Add a passkey to get a smart account',
    }
  const [deployed, signer] = await Promise.all([deploymentOf(asked, smart), signerOf(account, smart)])
  const warning = signer.warning ?? deployed.warning
  return {
    ...common,
    smartWalletAddress: smart.address,
    passkeyCredentialId: smart.credentialId,
    isDeployed: deployed.isDeployed,
    canSign: signer.canSign,
    signerType: smart.credentialId === null ? ('eoa' as const) : ('passkey' as const),
    safeAppUrl: safeAppUrl(asked.facts, smart.address),
    ...(warning === undefined ? {} : { warning }),
  }
}

async function deploymentOf({ chain }: RequestedChain, { address }: SmartAccount) {
  if (!chain) return { isDeployed: false }
  try {
    return { isDeployed: await chain.isDeployed(address) }
  } catch (error) {
    return { isDeployed: false, warning: chainErrorOf(error) }
  }
}

const signerGone = 'The passkey that controls this smart account is gone'

async function signerOf(account: Account, { credentialId }: SmartAccount) {
  if (credentialId === null) return { canSign: true }
  const canSign = isSameAccount((await passkeyOf(credentialId))?.user_address, account._id)
  return canSign ? { canSign } : { canSign, warning: signerGone }
}
