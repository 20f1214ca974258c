import { z } from 'zod'
import { defineSettings, numeric, word } from '#server/kernel/settings'

export const roomSettings = defineSettings(
  {
    GATE_RECHECK_MINUTES: numeric(z.number().int().min(0).max(10_080)).default(60),
    PARTNER_CHANNEL: word.default('partner'),
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
