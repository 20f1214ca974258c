import { z } from 'zod'
import { ConfigError, nameOrId, urlOf } from '#server/kernel/settings'

/** The server at which people meet. */
export const meetingsVariables = z.object({
  LIVEKIT_URL: urlOf(/^(wss?|https?):\/\//, 'must start with wss:// or https:// and name a host').optional(),
  LIVEKIT_API_KEY: nameOrId.optional(),
  LIVEKIT_API_SECRET: z.string().min(16).optional(),
})

export interface MeetingsConfig {
  /** Null where people meet over this server. */
  liveKit: { url: string; apiKey: string; apiSecret: string } | null
}

export const meetingsOf = (env: z.output<typeof meetingsVariables>): MeetingsConfig => ({ liveKit: liveKitOf(env) })

function liveKitOf(env: z.output<typeof meetingsVariables>): MeetingsConfig['liveKit'] {
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = env
  if (url === undefined && apiKey === undefined && apiSecret === undefined) return null
  if (url === undefined || apiKey === undefined || apiSecret === undefined)
    throw new ConfigError('LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together.')
  return { url, apiKey, apiSecret }
}
