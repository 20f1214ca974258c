import { z } from 'zod'
import { ConfigError, nameOrId, webUrl } from '#server/kernel/settings'

/** Identity providers for sign-in, beside wallets and passkeys. */
export const signInVariables = z.object({
  WORLDID_BASE_URL: webUrl.default('https://developer.worldcoin.org'),
  WORLDID_APP_ID: nameOrId.optional(),
  WORLDID_LEVEL: nameOrId.regex(/^[a-z]\w*$/i, { error: 'must be a level, such as orb or device' }).default('orb'),
  PARTNER_JWKS_URL: webUrl.optional(),
  PARTNER_JWKS: z
    .string()
    .refine((value) => isKeySet(value), { error: 'must be a key set in JSON' })
    .optional(),
  PARTNER_ISSUER: z.string().min(1).optional(),
  PARTNER_AUDIENCE: z.string().min(1).optional(),
})

type Given = z.output<typeof signInVariables>

export interface SignInConfig {
  humanProof: { baseUrl: string; appId: string | undefined; level: string }
  partnerKeys: PartnerKeys | null
}

/** Where the keys of a partner are, and which of the tokens they sign are for us. */
interface PartnerKeys {
  jwksUrl: string | undefined
  jwks: string | undefined
  issuer: string
  audience: string
}

export const signInOf = (env: Given): SignInConfig => ({
  humanProof: { baseUrl: env.WORLDID_BASE_URL, appId: env.WORLDID_APP_ID, level: env.WORLDID_LEVEL },
  partnerKeys: partnerKeysOf(env),
})

function partnerKeysOf(env: Given): PartnerKeys | null {
  const { PARTNER_JWKS_URL: jwksUrl, PARTNER_JWKS: jwks, PARTNER_ISSUER: issuer, PARTNER_AUDIENCE: audience } = env
  if (jwksUrl === undefined && jwks === undefined) return null
  if (issuer === undefined || audience === undefined)
    throw new ConfigError(
      'PARTNER_ISSUER and PARTNER_AUDIENCE are required with partner keys: without them a token for another app signs in here.',
    )
  return { jwksUrl, jwks, issuer, audience }
}

const KeySet = z.object({ keys: z.array(z.object({ kty: z.string() })).min(1) })

const isKeySet = (value: string): boolean => KeySet.safeParse(readJson(value)).success

/** Undefined where it is none. */
function readJson(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
