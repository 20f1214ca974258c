import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import { z } from 'zod'
import { call } from './wallet.ts'

/** A Solana wallet that is the same for the same name. */
export function solana(name: string) {
  const secret = createHash('sha256').update(name).digest()
  const address = base58.encode(ed25519.getPublicKey(secret))
  const sign = (message: string) => base58.encode(ed25519.sign(new TextEncoder().encode(message), secret))
  return { address, sign }
}
type SolanaWallet = ReturnType<typeof solana>

const Begun = z.object({ message: z.string(), nonce: z.string() })

/** What the wallet sends to sign in; `change` may spoil the message before it is signed. */
export async function signedBySolana(url: string, who: SolanaWallet, change = (message: string) => message) {
  const begun = Begun.parse((await call(url, `GET /api/auth/verify-solana?address=${who.address}`)).body)
  const message = change(begun.message)
  return { address: who.address, message, signature: who.sign(message) }
}

export const verifySolana = async (url: string, who: SolanaWallet) =>
  call(url, 'POST /api/auth/verify-solana', await signedBySolana(url, who))
