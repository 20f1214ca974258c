import type { Policy, Rules } from '#server/log/policy'

/** The rules of the log by name, each with the policy of a log that lacks it. */
export const weaker = {
  'judge on the draft': { inDraft: () => [] },
  'refuse on a fresh view': { isFresh: () => true },
  'hold refusals until the insert is decided': { mayRefuse: () => true },
  'look for the key before a refusal': { beforeRefusal: async () => null },
  'find out an unknown fate': { mayBeStored: (isDuplicate) => isDuplicate },
  'write records before the ack': { beforeAck: async (written) => void written.catch(() => {}) },
  'wait for every node': { everyNode: async () => 0 },
  'confirm what is decided': { isHeldUp: () => false },
  'lease before the view': { beforeView: async () => {} },
  'judge under a live lease': { mayAct: () => true },
  'send nothing again without a lease': { mayRepeat: () => true },
  'time never runs back': { timeOf: (_, clock) => clock },
} satisfies Record<string, Partial<Rules>>

export type Rule = keyof typeof weaker
export const rulesOfLog = Object.keys(weaker) as Rule[]

/** A policy without these rules. */
export const without = (...rules: readonly Rule[]): Partial<Policy> =>
  Object.assign({}, ...rules.map((rule) => weaker[rule]))
