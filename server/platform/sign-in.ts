import type { Config } from '#server/config'
import type { Services } from '#server/kernel/context'
import { worldId } from '#server/ports/human-proof/world-id'
import { partnerByKeys, partnerByUrl } from '#server/ports/partner/jwks'
import type { PartsOf } from './part.ts'

type SignIn = 'humanProofs' | 'partnerTokens'

export const openSignIn = (config: Config): Pick<Services, SignIn> => ({
  humanProofs: openHumanProofs(config),
  partnerTokens: openPartner(config),
})

const openHumanProofs = ({ humanProof: { baseUrl, appId, level } }: Config) =>
  appId === undefined ? null : worldId({ baseUrl, appId, level })

function openPartner({ partnerKeys: keys }: Config) {
  if (keys === null) return null
  const { jwks, jwksUrl = '' } = keys
  return jwks === undefined ? partnerByUrl(jwksUrl, keys) : partnerByKeys(jwks, keys)
}

export const signInParts: PartsOf<SignIn> = {
  humanProofs: ({ humanProof: { appId, baseUrl } }) =>
    appId === undefined
      ? { part: 'human proof', adapter: 'none', why: 'WORLDID_APP_ID is not set: sign-in by it answers 503' }
      : { part: 'human proof', adapter: new URL(baseUrl).host, why: 'WORLDID_APP_ID is set' },
  partnerTokens: ({ partnerKeys: keys }) =>
    keys === null
      ? { part: 'partner', adapter: 'none', why: 'PARTNER_JWKS_URL is not set: sign-in by it answers 503' }
      : {
          part: 'partner',
          adapter: keys.jwks ? 'given keys' : 'published keys',
          why: 'the keys of its tokens are set',
        },
}
