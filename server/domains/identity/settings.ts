import { z } from 'zod'
import { ConfigError, defineSettings, hostAndPort, numeric, webUrl } from '#server/kernel/settings'

/** The domain and the chains of the messages that wallets sign. */
export const siweSettings = defineSettings(
  {
    SIWE_DOMAIN: hostAndPort.optional(),
    SIWE_URI: webUrl.optional(),
    SIWE_CHAIN_IDS: z
      .string()
      .default('1,10,137,8453,42161,84532,11155111')
      .transform((value) => value.split(',').map(Number))
      .refine((ids) => ids.length > 0 && ids.every((id) => Number.isInteger(id) && id > 0), {
        error: 'must be numbers separated by commas',
      }),
    SIWE_DEFAULT_CHAIN_ID: numeric(z.number().int().positive()).default(1),
  },
  (given, { publicUrl }) => {
    const { SIWE_CHAIN_IDS: chainIds, SIWE_DEFAULT_CHAIN_ID: defaultChainId } = given
    if (!chainIds.includes(defaultChainId)) throw new ConfigError('SIWE_DEFAULT_CHAIN_ID must be among SIWE_CHAIN_IDS.')
    const domain = given.SIWE_DOMAIN ?? new URL(publicUrl).host
    return { domain, uri: given.SIWE_URI ?? publicUrl, chainIds, defaultChainId }
  },
)
