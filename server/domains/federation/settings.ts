import { defineSettings, word } from '#server/kernel/settings'

export const federationSettings = defineSettings(
  {
    WORLDID_ACTION: word.optional(),
    PARTNER_CHANNEL: word.default('partner'),
  },
  (given) => ({
    /** The one action that human proofs must be for; null where any does. */
    action: given.WORLDID_ACTION ?? null,
    /** The slug of the channel that partner users join. */
    channel: given.PARTNER_CHANNEL,
  }),
)
