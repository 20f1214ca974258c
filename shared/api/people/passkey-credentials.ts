import { z } from 'zod'

const byte = z.number().int().min(0).max(255)

/** Bytes in any form clients send them: base64url, base64, `0x` hex, or a list of numbers. Read as base64url. */
const bytes = (min: number, max: number) =>
  z
    .union(
      [
        z
          .string()
          .max(max * 3)
          .regex(/^[A-Za-z0-9+/_-]+={0,2}$/),
        z.array(byte).max(max),
      ],
      'Invalid bytes',
    )
    .transform((given) => (typeof given === 'string' ? decoded(given) : Uint8Array.from(given)))
    .refine((read): read is Uint8Array<ArrayBuffer> => read !== null && read.length >= min && read.length <= max, {
      error: 'Invalid bytes',
    })
    .transform(encoded)

function decoded(text: string): Uint8Array<ArrayBuffer> | null {
  if (/^0x([0-9a-f]{2})+$/i.test(text))
    return Uint8Array.from(text.slice(2).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const plain = text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  if (plain.length % 4 === 1) return null
  return Uint8Array.from(atob(plain), (sign) => sign.charCodeAt(0))
}

const encoded = (read: Uint8Array): string =>
  btoa(String.fromCharCode(...read))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** JSON may stand where an object is asked for. */
export const objectOrJson = <Inner extends z.ZodType>(inner: Inner) =>
  z.union([
    inner,
    z
      .string()
      .max(64_000)
      .meta({ contentMediaType: 'application/json' })
      .transform((text, context): unknown => {
        try {
          return JSON.parse(text)
        } catch {
          context.addIssue({ code: 'custom', message: 'Invalid JSON' })
          return z.NEVER
        }
      })
      .pipe(inner),
  ])

export const CredentialId = bytes(1, 1_023)
export const ClientData = bytes(1, 8_192)
export const Challenge = bytes(16, 128)
export const Coordinate = bytes(32, 32)
const transports = z.array(z.string().max(32)).max(10)

export const Attestation = z.object({
  clientDataJSON: ClientData,
  attestationObject: bytes(1, 16_384),
  transports: transports.nullish(),
})

/** What `navigator.credentials.create` gives, as JSON. */
export const NewCredential = z.object({
  id: CredentialId,
  rawId: CredentialId.nullish(),
  type: z.literal('public-key').nullish(),
  response: Attestation,
})
export type NewCredential = z.infer<typeof NewCredential>

export const Assertion = z.object({
  clientDataJSON: ClientData,
  authenticatorData: bytes(1, 8_192),
  signature: bytes(1, 512),
  userHandle: bytes(0, 64).nullish().or(z.literal('')),
})

/** What `navigator.credentials.get` gives, as JSON. */
export const UsedCredential = z.object({
  id: CredentialId,
  rawId: CredentialId.nullish(),
  type: z.literal('public-key').nullish(),
  response: Assertion,
})
export type UsedCredential = z.infer<typeof UsedCredential>

const Named = z.object({ id: z.string(), type: z.literal('public-key'), transports: z.array(z.string()) })
const User = z.object({ id: z.string(), name: z.string(), displayName: z.string() })

/** The site, as clients of the older SDK read it. */
const site = { rpId: z.string(), rpName: z.string() }

export const CreationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ name: z.string(), id: z.string() }),
  ...site,
  user: User,
  pubKeyCredParams: z.array(z.object({ alg: z.number(), type: z.literal('public-key') })),
  timeout: z.number(),
  attestation: z.string(),
  excludeCredentials: z.array(Named),
  authenticatorSelection: z.object({
    residentKey: z.string(),
    userVerification: z.string(),
    requireResidentKey: z.boolean(),
  }),
  extensions: z.object({ credProps: z.boolean() }),
})

export const RequestOptions = z.object({
  challenge: z.string(),
  ...site,
  allowCredentials: z.array(Named),
  timeout: z.number(),
  userVerification: z.string(),
})
