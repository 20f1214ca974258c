import { z } from 'zod'
import { defineSettings } from '#server/kernel/settings'

export const federationSettings = defineSettings(
  {
    WORLDID_ACTION: z.string().min(1).optional(),
    PARTNER_CHANNEL: z.string().min(1).default('partner'),
  },
  (given) => ({
    /** The one action that human proofs must be for; null where any does. */
    action: given.WORLDID_ACTION ?? null,
    /** The slug of the channel that partner users join. */
    channel: given.PARTNER_CHANNEL,
  }),
)
