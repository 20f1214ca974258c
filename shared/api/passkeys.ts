import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, Done, Id, line, nameLine, Timestamp } from '#shared/kit/primitives'
import { SignedInAnswer } from './identity.ts'

const byte = z.number().int().min(0).max(255)

/** Bytes in any form clients send them: base64url, base64, `0x` hex, or a list of numbers. Read as base64url. */
export const bytes = (min: number, max: number) =>
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
const objectOrJson = <Inner extends z.ZodType>(inner: Inner) =>
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

const CredentialId = bytes(1, 1_023)
const ClientData = bytes(1, 8_192)
const Challenge = bytes(16, 128)
const Coordinate = bytes(32, 32)
const transports = z.array(z.string().max(32)).max(10)

const Attestation = z.object({
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

const Assertion = z.object({
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

export const CreationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ name: z.string(), id: z.string() }),
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
  rpId: z.string(),
  allowCredentials: z.array(Named),
  timeout: z.number(),
  userVerification: z.string(),
})

const RecoveryToken = z.string().trim().min(1).max(64)
const PersonName = nameLine(1, 64)
const SignedInByPasskey = SignedInAnswer.extend({ credentialId: z.string(), backedUp: z.boolean() })

const EmailAddress = z.string().trim().toLowerCase().max(254).pipe(z.email())

const remove = { id: Id.nullish(), credentialId: CredentialId.nullish() }

export const passkeys = {
  beginRegistration: operation({
    summary: 'What a browser needs to make a passkey: for the calling account, a recovered one, or a new one.',
    http: 'POST /api/passkey/register/options',
    access: 'public',
    limit: 'auth',
    repeat: 'harmless',
    freshProof: { unless: ['recoveryToken'] },
    input: z.object({
      userAddress: CallerAddress,
      displayName: PersonName.nullish(),
      userName: PersonName.nullish(),
      recoveryToken: RecoveryToken.nullish(),
      isRescue: z.boolean().nullish(),
    }),
    output: CreationOptions.extend({
      options: CreationOptions,
      rpId: z.string(),
      isRecoveryFlow: z.boolean(),
      userAddress: z.string().nullable(),
    }),
    errorBody: 'text',
  }),
  register: operation({
    summary: 'Stores a new passkey and signs in with it.',
    http: 'POST /api/passkey/register/verify',
    access: 'public',
    limit: 'auth',
    repeat: 'harmless',
    claim: ({ credential, credentialId }) => credential?.id ?? credentialId,
    freshProof: { unless: ['recoveryToken', 'isNewAccount'] },
    input: z.object({
      userAddress: CallerAddress,
      credential: objectOrJson(NewCredential).nullish(),
      publicKey: z.object({ x: Coordinate, y: Coordinate }).nullish(),
      credentialId: CredentialId.nullish(),
      publicKeyX: Coordinate.nullish(),
      publicKeyY: Coordinate.nullish(),
      attestation: z
        .union([objectOrJson(NewCredential), objectOrJson(Attestation), Attestation.shape.attestationObject])
        .nullish(),
      clientDataJSON: ClientData.nullish(),
      challenge: Challenge.nullish(),
      displayName: PersonName.nullish(),
      recoveryToken: RecoveryToken.nullish(),
      isNewAccount: z.boolean().nullish(),
    }),
    output: SignedInByPasskey,
    errors: ['CHALLENGE_EXPIRED', 'PASSKEY_VERIFICATION_FAILED', 'INVALID_AUTHENTICATOR', 'PASSKEY_ALREADY_REGISTERED'],
    audit: true,
    errorBody: 'text',
  }),
  beginLogin: operation({
    summary: 'What a browser needs to use a passkey: of an account, or whichever it has.',
    http: 'POST /api/passkey/login/options',
    access: 'public',
    limit: 'auth',
    repeat: 'harmless',
    claim: ({ userAddress }) => userAddress,
    input: z.object({ userAddress: Address.nullish(), useDevicePasskey: z.boolean().nullish() }),
    output: RequestOptions.extend({ options: RequestOptions, useDevicePasskey: z.boolean() }),
    errorBody: 'text',
  }),
  login: operation({
    summary: 'Signs in with a passkey.',
    http: 'POST /api/passkey/login/verify',
    access: 'public',
    limit: 'auth',
    repeat: 'harmless',
    claim: ({ credential, credentialId }) => credential?.id ?? credentialId,
    input: z.object({
      credential: objectOrJson(UsedCredential).nullish(),
      challenge: Challenge.nullish(),
      credentialId: CredentialId.nullish(),
      authenticatorData: Assertion.shape.authenticatorData.nullish(),
      clientDataJSON: ClientData.nullish(),
      signature: Assertion.shape.signature.nullish(),
      userHandle: Assertion.shape.userHandle,
      userAddress: Address.nullish(),
    }),
    output: SignedInByPasskey,
    errors: ['CHALLENGE_EXPIRED', 'PASSKEY_VERIFICATION_FAILED', 'PASSKEY_NOT_FOUND', 'RESCUE_AVAILABLE'],
    audit: true,
    errorBody: 'text',
  }),
  list: operation({
    summary: 'The passkeys of the caller, newest first.',
    http: 'GET /api/passkey/credentials',
    access: 'user',
    limit: 'auth',
    input: z.object({ includeKeys: z.boolean().default(false) }),
    output: z.object({
      credentials: z.array(
        z.object({
          id: z.string(),
          /** Shortened, unless the keys are asked for. */
          credentialId: z.string(),
          deviceName: z.string(),
          createdAt: Timestamp,
          lastUsedAt: Timestamp.nullable(),
          backedUp: z.boolean(),
          /** Whether this passkey signs for the smart account. */
          isWalletKey: z.boolean(),
          walletKeyStatus: z.enum(['active', 'not_owner', 'safe_not_deployed', 'no_signer']),
          publicKeyX: z.string().optional(),
          publicKeyY: z.string().optional(),
          safeSignerAddress: z.string().nullable().optional(),
        }),
      ),
      safeDeployed: z.boolean(),
      smartWalletAddress: z.string().nullable(),
    }),
    errorBody: 'text',
  }),
  current: operation({
    summary: 'The passkey the caller used last.',
    http: 'GET /api/passkey/credential',
    access: 'user',
    limit: 'auth',
    input: z.object({}),
    output: z.object({
      credentialId: z.string(),
      publicKeyX: z.string(),
      publicKeyY: z.string(),
      safeSignerAddress: z.string().nullable(),
      displayName: z.string().nullable(),
      backedUp: z.boolean(),
      safeSignerReady: z.boolean(),
      message: z.string(),
    }),
    errors: ['PASSKEY_NOT_FOUND'],
    errorBody: 'text',
  }),
  remove: operation({
    summary: 'Removes a passkey of the caller, by either id, and ends the sessions it began.',
    http: 'DELETE /api/passkey/credential',
    aliases: [{ http: 'DELETE /api/passkey/credentials' }],
    access: 'user',
    limit: 'auth',
    freshProof: { unless: [] },
    input: z.object(remove),
    output: Done,
    errors: ['PASSKEY_NOT_FOUND'],
    audit: true,
    errorBody: 'text',
  }),
  checkMigration: operation({
    summary: 'Whether an account has passkeys here, or still has to make one.',
    http: 'POST /api/passkey/check-migration',
    access: 'public',
    limit: 'auth',
    repeat: 'harmless',
    input: z.object({
      userAddress: Address,
      hasOldCredentials: z.boolean().nullish(),
      oldDeviceId: line(1, 256).nullish(),
    }),
    output: z.object({
      userAddress: z.string(),
      hasNewCredentials: z.boolean(),
      newCredentialsCount: z.number(),
      hasOldCredentials: z.boolean(),
      needsMigration: z.boolean(),
      userExists: z.boolean(),
      /** Told to the account itself alone. */
      hasVerifiedEmail: z.boolean(),
      status: z.enum(['NEEDS_MIGRATION', 'MIGRATED', 'NO_PASSKEY']),
      message: z.string(),
    }),
    errorBody: 'text',
  }),
  recoverByEmail: operation({
    summary: 'Sends a code to the verified address of an account whose passkeys are lost.',
    http: 'POST /api/passkey/recover/email',
    access: 'public',
    limit: 'auth',
    repeat: 'harmless',
    claim: ({ email }) => email,
    input: z.object({ email: EmailAddress }),
    output: z.object({ success: z.literal(true), message: z.string() }),
    audit: true,
    errorBody: 'text',
  }),
  verifyRecovery: operation({
    summary: 'A token, for one new passkey, from a code that was sent.',
    http: 'POST /api/passkey/recover/email/verify',
    access: 'public',
    limit: 'auth',
    repeat: 'harmless',
    claim: ({ email }) => email,
    input: z.object({
      email: EmailAddress,
      code: z.string().regex(/^[0-9]{6}$/, { error: 'The code has six digits' }),
      /** A token of `rescue_available`, which becomes good by this. */
      rescueToken: RecoveryToken.nullish(),
    }),
    output: z.object({
      success: z.literal(true),
      userAddress: z.string(),
      recoveryToken: z.string(),
      message: z.string(),
      /** Seconds. */
      expiresIn: z.number(),
    }),
    errors: ['INVALID_CODE', 'CODE_EXPIRED', 'TOO_MANY_ATTEMPTS'],
    audit: true,
    errorBody: 'text',
  }),
}
