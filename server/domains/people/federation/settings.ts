import { defineSettings, nameOrId } from '#server/kernel/settings'

export const federationSettings = defineSettings({ WORLDID_ACTION: nameOrId.optional() }, (given) => ({
  /** The only accepted action of human proofs; null for any. */
  action: given.WORLDID_ACTION ?? null,
}))
