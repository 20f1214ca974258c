import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { commaList, defineSettings, isOrigin } from '#server/kernel/settings'
import { AppError } from '#shared/errors'

/** The site to which passkeys belong. */
export interface Site {
  rpId: string
  rpName: string
  origins: readonly string[]
}

/** Android apps have their own form of origin. */
const isSite = (value: string) => value.startsWith('android:apk-key-hash:') || isOrigin(value)

export const passkeySettings = defineSettings(
  {
    WEBAUTHN_RP_ID: z
      .string()
      .regex(/^(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, {
        error: 'must be a host name in lower case, without scheme and port',
      })
      .optional(),
    WEBAUTHN_RP_NAME: z.string().min(1).default('Plaza'),
    WEBAUTHN_ORIGINS: commaList.refine((all) => all.every(isSite), {
      error: 'must be origins separated by commas, such as https://example.com',
    }),
  },
  (given, { publicUrl, localOrigins }): Site => ({
    rpId: given.WEBAUTHN_RP_ID ?? new URL(publicUrl).hostname,
    rpName: given.WEBAUTHN_RP_NAME,
    origins: given.WEBAUTHN_ORIGINS.length > 0 ? given.WEBAUTHN_ORIGINS : [publicUrl, ...localOrigins],
  }),
)

/** The site as a request names it. Refuses another one, as its passkeys would sign nobody in here. */
export function requestedSite(
  node: Node,
  { rpId, rpName }: { rpId?: string | undefined; rpName?: string | undefined },
): Site {
  const site = passkeySettings.of(node)
  if (rpId !== undefined && rpId.toLowerCase() !== site.rpId)
    throw new AppError('VALIDATION_ERROR', { message: `rpId: passkeys of this site belong to ${site.rpId}` })
  return { ...site, rpName: rpName ?? site.rpName }
}
