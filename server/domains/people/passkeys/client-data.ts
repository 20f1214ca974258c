import { z } from 'zod'
import { AppError } from '#shared/errors'
import type { Site } from './settings.ts'

const ClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().nullish(),
  topOrigin: z.unknown().optional(),
})
export type ClientData = z.infer<typeof ClientData>

/** The browser's client data, unchecked. */
export function readClientData(encoded: string): ClientData {
  try {
    return ClientData.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')))
  } catch {
    throw new AppError('PASSKEY_VERIFICATION_FAILED')
  }
}

/** Refuses client data of another purpose or site, or of a frame in another site. */
export function checkClientData(
  { type, origin, crossOrigin, topOrigin }: ClientData,
  expected: 'webauthn.create' | 'webauthn.get',
  { origins, rpId }: Site,
): void {
  if (type !== expected) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  if (!origins.includes(origin)) {
    const message = `Passkeys of this site belong to ${rpId}. Open it at ${origins[0]}.`
    throw new AppError('PASSKEY_VERIFICATION_FAILED', { message })
  }
  if (crossOrigin || topOrigin !== undefined) throw new AppError('PASSKEY_VERIFICATION_FAILED')
}
