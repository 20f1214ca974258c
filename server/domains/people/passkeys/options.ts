import type { z } from 'zod'
import type { CreationOptions, RequestOptions } from '#shared/api/people/passkey-credentials'
import { es256 } from './attestation.ts'
import type { Site } from './settings.ts'

const timeout = 120_000
const userVerification = 'preferred'

/** Real passkeys and decoys look the same. */
const named = (id: string) => ({ id, type: 'public-key' as const, transports: ['internal', 'hybrid'] })

/** The options for creating a passkey, except on these authenticators. */
export const creationOptions = (
  { rpId, rpName }: Site,
  challenge: string,
  user: { id: string; name: string },
  known: readonly string[],
): z.input<typeof CreationOptions> => ({
  challenge,
  rp: { name: rpName, id: rpId },
  rpId,
  rpName,
  user: { ...user, displayName: user.name },
  pubKeyCredParams: [{ alg: es256, type: 'public-key' }],
  timeout,
  attestation: 'none',
  excludeCredentials: known.map(named),
  authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification },
  extensions: { credProps: true },
})

/** The options for using one of these passkeys; any passkey if none is named. */
export const requestOptions = (
  { rpId, rpName }: Site,
  challenge: string,
  known: readonly string[],
): z.input<typeof RequestOptions> => ({
  challenge,
  rpId,
  rpName,
  allowCredentials: known.map(named),
  timeout,
  userVerification,
})
