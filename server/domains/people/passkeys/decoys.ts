import { createHmac } from 'node:crypto'
import type { Node } from '#server/kernel/context'

const lengths = [16, 20, 32, 32]

/** The fake credential id of an account without passkeys: constant, and nobody's. */
export function decoyCredentialOf({ settings }: Node, account: string): string {
  const oldest = settings.sessionKeys.at(-1)
  if (!oldest) throw new Error('There is no session key')
  const made = createHmac('sha256', oldest.secret).update(`decoy passkey\0${account}`)
  const bytes = made.digest()
  const more = createHmac('sha256', oldest.secret).update(bytes).digest()
  return more.subarray(0, lengths[(bytes[0] ?? 0) % lengths.length]).toString('base64url')
}
