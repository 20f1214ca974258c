import { z } from 'zod'
import { ConfigError, decimalNumber, defineSettings, hostAndPort, webUrl } from '#server/kernel/settings'
import { isVisible } from '#shared/kit/primitives'

/** The domain and chains of the messages that wallets sign. */
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
    SIWE_DEFAULT_CHAIN_ID: decimalNumber(z.number().int().positive()).default(1),
  },
  (given, { publicUrl }) => {
    const { SIWE_CHAIN_IDS: chainIds, SIWE_DEFAULT_CHAIN_ID: defaultChainId } = given
    if (!chainIds.includes(defaultChainId)) throw new ConfigError('SIWE_DEFAULT_CHAIN_ID must be among SIWE_CHAIN_IDS.')
    const domain = given.SIWE_DOMAIN ?? new URL(publicUrl).host
    return { domain, uri: given.SIWE_URI ?? publicUrl, chainIds, defaultChainId }
  },
)

const usualWelcome = `Welcome to Plaza!

You have joined the room where everybody is. Some things to begin with:

- **Your name**: choose one in Settings, below the rooms. Add a second way in there, so that you can come back if you lose the first.
- **Channels**: “Browse channels”, above the rooms, shows what others talk about. Join what you like; you can leave it again.
- **People**: press a name to write to somebody, or to befriend them. What you write to one another is end-to-end encrypted.
- **Peace**: by the same press you block or report whoever bothers you.

Nobody reads an answer here: ask in the room where everybody is.`

/** Plaza's message to newcomers; null for none. */
export const welcomeSettings = defineSettings(
  {
    WELCOME_MESSAGE: z
      .string()
      .trim()
      .max(1_000, { error: 'must have at most 1,000 characters' })
      .refine(isVisible, { error: 'must say something' })
      .default(usualWelcome),
  },
  ({ WELCOME_MESSAGE: message }) => ({ message: message === 'off' ? null : message }),
)
