import { z } from 'zod'
import { defineSettings, numeric, word } from '#server/kernel/settings'

export const roomSettings = defineSettings(
  {
    GATE_RECHECK_MINUTES: numeric(z.number().int().min(0).max(10_080)).default(60),
    PARTNER_CHANNEL: word.default('partner'),
    OFFICIAL_CHANNELS: z.enum(['on', 'off']).default('on'),
  },
  (given) => ({
    /** How often members are asked again for what the gate of their room asks. */
    recheckMilliseconds: given.GATE_RECHECK_MINUTES * 60_000,
    /** The id or the slug of the channel that partner users join. */
    partnerChannel: given.PARTNER_CHANNEL,
    /** Whether a new installation begins with channels. */
    beginsWithChannels: given.OFFICIAL_CHANNELS === 'on',
  }),
)
