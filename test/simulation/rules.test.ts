import { expect, test } from 'vitest'
import type { Rule } from '#test/log/weaker'
import type { RuleOfParts } from './machine.ts'
import { STEPS, simulate } from './simulate.ts'
import type { ProfileName } from './weather.ts'

const SEEDS = Array.from({ length: 24 }, (_, index) => index + 1)

/** This rule needs a node that pauses exactly between two attempts, for as long as others wait for it; `test/log` tests it. */
type ShownByTheLog = 'send nothing again without a lease'

/** For each rule: the profile in which its absence is noticed, and the fault. */
const rules: Record<Exclude<Rule | RuleOfParts, ShownByTheLog>, [ProfileName, fault: RegExp, steps?: number]> = {
  'judge on the draft': ['crowded', /^edited from an older version$/],
  'refuse on a fresh view': ['crowded', /^refused for what never was/],
  'hold refusals until the insert is decided': ['crowded', /^refused for what never was: CONFLICT$/],
  'look for the key before a refusal': ['forgetful', /^refused though stored before$/],
  'find out an unknown fate': ['stormy', /^(stored after its refusal|refused though stored)$/],
  'write records before the ack': ['everyday', /^acknowledged before its records$/],
  'wait for every node': ['stormy', /^a suspended one wrote after the ack$/],
  'confirm what is decided': ['stormy', /^a suspended one wrote after the ack$/],
  'lease before the view': ['restless', /^a suspended one wrote after the ack$/],
  // Paused nodes need a longer run.
  'judge under a live lease': ['sleepy', /^a suspended one wrote after the ack$/, 30_000],
  'time never runs back': ['everyday', /^time ran back$/],
  'cut frames at removals': ['crowded', /^an outsider was shown a row$/],
  'write only newer records': ['everyday', /^a record went back$/],
  'say what was not written': ['mixed', /^acknowledged before its records$/],
  'read what the majority has': ['failover', /^acknowledged and not there$/],
  'know what is never sent': ['mixed', /^(no answer in time|a room stands still)$/],
  'measure by a clock that only rises': ['shifting', /^(no answer in time|a suspended one wrote after the ack)$/],
  'show what is not known': ['mixed', /^a reader missed a row$/],
  'end pages at the head that was judged': ['crowded', /^a page goes beyond the head that was judged$/],
}

test.each(Object.entries(rules) as [Rule | RuleOfParts, [ProfileName, RegExp, number?]][])(
  'without the rule "%s" some seed breaks a promise',
  async (without, [profile, fault, steps = STEPS]) => {
    expect(await firstSeed({ profile, without, steps }, fault)).not.toBeNull()
  },
  300_000,
)

async function firstSeed(options: Parameters<typeof simulate>[1], fault: RegExp): Promise<number | null> {
  for (const seed of SEEDS) {
    const { faults } = await simulate(seed, options)
    if (faults.some(({ what }) => fault.test(what))) return seed
  }
  return null
}
