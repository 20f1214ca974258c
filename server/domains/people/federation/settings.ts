import { defineSettings, word } from '#server/kernel/settings'

export const federationSettings = defineSettings({ WORLDID_ACTION: word.optional() }, (given) => ({
  /** The one action that human proofs must be for; null where any does. */
  action: given.WORLDID_ACTION ?? null,
}))
