import { useEffect, useState } from 'react'
import type { Wallet } from '#client/sdk/types'
import { explainErrors } from '../../kit/problem.ts'
import { outerProblemTexts, signInTexts as t } from '../../texts/sign-in.ts'

export interface EthereumWallet extends Wallet {
  /** Signs typed data (EIP-712, as JSON) on a chain, to which the wallet changes. */
  signTypedData(chainId: number, data: string): Promise<string>
}

/** A wallet that an extension or the browser itself offers. `open` asks it for an account; the person may refuse. */
export type FoundWallet = { id: string; name: string } & (
  | { kind: 'ethereum'; open(): Promise<EthereumWallet> }
  | { kind: 'solana'; open(): Promise<Wallet> }
)

interface Ethereum {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
}
interface Solana {
  connect(): Promise<{ publicKey: { toString(): string } }>
  signMessage(message: Uint8Array): Promise<{ signature: Uint8Array }>
}
interface Announced {
  info: { uuid: string; name: string }
  provider: Ethereum
}

const injected = () => window as { ethereum?: Ethereum; phantom?: { solana?: Solana }; solana?: Solana }

/** Every wallet in this browser: those that announce themselves (EIP-6963), else the one at `window.ethereum`, and one for Solana. */
export function useWallets(): readonly FoundWallet[] {
  const [announced, setAnnounced] = useState<readonly Announced[]>([])
  useEffect(() => {
    const hear = (event: Event) => {
      const { detail } = event as CustomEvent<Announced>
      setAnnounced((known) => [...known.filter(({ info }) => info.uuid !== detail.info.uuid), detail])
    }
    addEventListener('eip6963:announceProvider', hear)
    dispatchEvent(new Event('eip6963:requestProvider'))
    return () => removeEventListener('eip6963:announceProvider', hear)
  }, [])

  const { ethereum, phantom, solana = phantom?.solana } = injected()
  const byName = announced.map(({ info, provider }) => ethereumWallet(info.uuid, info.name, provider))
  return [
    ...(byName.length > 0 ? byName : ethereum ? [ethereumWallet('injected', t.wallet.injected, ethereum)] : []),
    ...(solana ? [solanaWallet(solana)] : []),
  ]
}

const ethereumWallet = (id: string, name: string, provider: Ethereum): FoundWallet => ({
  id,
  name,
  kind: 'ethereum',
  async open() {
    const accounts = await provider.request({ method: 'eth_requestAccounts' })
    const address = Array.isArray(accounts) ? String(accounts[0] ?? '') : ''
    if (!address) throw new Error(t.wallet.noAccount)
    return {
      address: address.toLowerCase(),
      isInteractive: true,
      signMessage: async (message) =>
        String(await provider.request({ method: 'personal_sign', params: [hexOf(message), address] })),
      async signTypedData(chainId, data) {
        const chain = { chainId: `0x${chainId.toString(16)}` }
        await provider.request({ method: 'wallet_switchEthereumChain', params: [chain] }).catch(explainChain)
        return String(await provider.request({ method: 'eth_signTypedData_v4', params: [address, data] }))
      },
    }
  },
})

const unknownChain = 4902

function explainChain(error: unknown): never {
  if ((error as { code?: unknown } | null)?.code !== unknownChain) throw error
  throw new Error(t.wallet.unknownChain)
}

/** Its signatures are base58. */
const solanaWallet = (provider: Solana): FoundWallet => ({
  id: 'solana',
  name: t.wallet.solana,
  kind: 'solana',
  async open() {
    const [{ base58 }, { publicKey }] = await Promise.all([import('@scure/base'), provider.connect()])
    return {
      address: publicKey.toString(),
      isInteractive: true,
      signMessage: async (message) =>
        base58.encode((await provider.signMessage(new TextEncoder().encode(message))).signature),
    }
  },
})

const hexOf = (text: string): string =>
  `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`

const problemTexts = outerProblemTexts.wallets

/** Texts for the errors of a wallet, by the codes of EIP-1193 and JSON-RPC; the errors may be plain objects. */
const problemsByCode: Readonly<Record<number, string>> = {
  4001: problemTexts.declined,
  4100: problemTexts.notAllowed,
  4200: problemTexts.unsupported,
  4900: problemTexts.disconnected,
  4901: problemTexts.disconnected,
  [-32002]: problemTexts.pending,
  [-32603]: problemTexts.failed,
}

explainErrors((error) =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? (problemsByCode[error.code] ?? null)
    : null,
)
