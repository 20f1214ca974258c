import { defineSettings, word } from '#server/kernel/settings'

export const federationSettings = defineSettings({ WORLDID_ACTION: word.optional() }, (given) => ({
  /** The only accepted action of human proofs; null for any. */
  action: given.WORLDID_ACTION ?? null,
}))
