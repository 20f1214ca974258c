import { z } from 'zod'
import { decimalNumber, defineSettings, nameOrId } from '#server/kernel/settings'

export const roomSettings = defineSettings(
  {
    GATE_RECHECK_MINUTES: decimalNumber(z.number().int().min(0).max(10_080)).default(60),
    PARTNER_CHANNEL: nameOrId.default('partner'),
    OFFICIAL_CHANNELS: z.enum(['on', 'off']).default('on'),
  },
  (given) => ({
    /** The period of gate re-checks. */
    recheckMilliseconds: given.GATE_RECHECK_MINUTES * 60_000,
    /** The id or slug of the channel that partner users join. */
    partnerChannel: given.PARTNER_CHANNEL,
    /** Does a new installation begin with channels? */
    beginsWithChannels: given.OFFICIAL_CHANNELS === 'on',
  }),
)
