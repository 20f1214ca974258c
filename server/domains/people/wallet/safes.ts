import { formatEther, formatGwei, getAddress, type Hex, isAddressEqual } from 'viem'
import { createChainCache } from '#server/domains/rooms/tokens/chain-cache'
import type { Node } from '#server/kernel/context'
import type { Chain } from '#server/ports/chain/port'
import { fundsOn } from './balances.ts'
import { chainErrorOf, type RequestedChain, requestedChains, safeAppUrl } from './chains.ts'

const keptSeconds = 10
/** The gas for creating a smart account with its first owner, rounded up. */
const deploymentGas = 400_000n

const states = createChainCache((chain, address) => chain.safe(address as Hex), keptSeconds)

/** The state of an address on every chain with an endpoint. */
export async function safeStatusOf(node: Node, address: Hex, primarySigner: Hex | undefined) {
  const asked = requestedChains(node, undefined)
  const found = await Promise.all(asked.map((one) => statusOn(one, address, primarySigner)))
  const chains = found.map(({ hasFunds: _, ...chain }) => chain)
  const deployed = chains.filter(({ isDeployed }) => isDeployed)
  return {
    safeAddress: getAddress(address),
    primarySigner: primarySigner ? getAddress(primarySigner) : null,
    chains,
    summary: {
      totalChains: chains.length,
      deployedChains: deployed.length,
      chainsWithFunds: found.filter(({ hasFunds }) => hasFunds).length,
      chainsWithRecovery: deployed.filter(({ hasRecoverySigner }) => hasRecoverySigner).length,
      chainsNeedingRecovery: deployed.filter(({ hasRecoverySigner }) => !hasRecoverySigner).length,
      totalBalanceUsd: chains.reduce((sum, { balanceUsd }) => sum + balanceUsd, 0),
    },
  }
}

async function statusOn({ facts, chain }: RequestedChain, address: Hex, primarySigner: Hex | undefined) {
  const nothing = {
    ...{ chainId: facts.id, chainName: facts.name, symbol: facts.symbol, explorer: facts.explorerUrl },
    ...{ isDeployed: false, owners: [], threshold: 0, hasRecoverySigner: false, primarySigner: null },
    ...{ balanceUsd: 0, safeAppUrl: safeAppUrl(facts, getAddress(address)), deploymentEstimate: null, hasFunds: false },
  }
  if (!chain) return nothing
  try {
    const [state, funds] = await Promise.all([signersOn(chain, address, primarySigner), fundsOn(chain, address)])
    const deploymentEstimate = state.isDeployed ? null : await estimateOn(chain)
    const { recoverySigners: _, ...signers } = state
    return { ...nothing, ...signers, balanceUsd: funds.usd, hasFunds: funds.some, deploymentEstimate }
  } catch (error) {
    return { ...nothing, error: chainErrorOf(error) }
  }
}

/** The owners of a Safe on one chain; all except the first signer are for recovery. */
export async function signersOn(chain: Chain, address: Hex, primarySigner: Hex | undefined) {
  const state = await states.of(chain, address.toLowerCase())
  const owners = [...(state?.owners ?? [])]
  const primary = owners.find((owner) => (primarySigner ? isAddressEqual(owner, primarySigner) : owners.length === 1))
  const recoverySigners = owners.length > 1 ? owners.filter((owner) => owner !== primary) : []
  return {
    isDeployed: state !== null,
    owners,
    threshold: state?.threshold ?? 0,
    hasRecoverySigner: recoverySigners.length > 0,
    recoverySigners,
    primarySigner: primary ?? null,
  }
}

async function estimateOn(chain: Chain) {
  const price = await chain.gasPrice()
  return {
    gasUnits: Number(deploymentGas),
    gasPriceGwei: Number(formatGwei(price)),
    estimatedCostEth: formatEther(price * deploymentGas),
    estimatedCostUsd: null,
    isSponsored: false,
  }
}
