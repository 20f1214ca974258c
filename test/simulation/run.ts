import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { textOf } from './history.ts'
import { type AnyRule, allRules, type Options, type Run, STEPS, simulate } from './simulate.ts'
import { isProfile, profileNames, profileOf } from './weather.ts'

const usage = `npm run simulate -- [options]
  --seed <n>       the first seed (1)
  --seeds <k>      how many seeds, one after another (1)
  --steps <m>      how much happens before everything is healed (${STEPS})
  --nodes <n>      how many nodes, where the seed is not to say
  --profile <name> ${profileNames.join(', ')}; where the seed is not to say
  --off <rule>     goes without a rule: ${allRules.join('; ')}
  --history <file> writes every event of the last run, one JSON text a line`

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.error(usage)
  process.exitCode = 2
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: { seed: text, seeds: text, steps: text, nodes: text, profile: text, off: text, history: text },
  })
  const first = count('seed', values.seed) ?? 1
  const options = optionsFrom(values)
  for (let seed = first; seed < first + (count('seeds', values.seeds) ?? 1); seed++) {
    const run = await simulate(seed, options)
    report(seed, options, run)
    if (values.history) writeFileSync(values.history, textOf(run.events))
  }
}

function optionsFrom({ steps, nodes, profile, off }: Record<string, string | undefined>): Options {
  const without = allRules.find((rule) => rule === off)
  if (off !== undefined && !without) throw new Error(`There is no rule "${off}".`)
  if (profile !== undefined && !isProfile(profile)) throw new Error(`There is no profile "${profile}".`)
  return { steps: count('steps', steps) ?? STEPS, nodes: count('nodes', nodes), profile, without: without ?? null }
}

function count(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} wants a number above 0.`)
  return number
}

function report(seed: number, options: Options, { events, faults }: Run): void {
  const counts: Record<string, number> = {}
  for (const { op } of events) counts[op] = (counts[op] ?? 0) + 1
  const weather = profileOf(seed, options.profile)
  const { nodes, hints } = weather.profile
  console.log(
    `seed ${seed}: ${weather.name}, ${options.nodes ?? nodes} nodes, ${hints ? 'hints' : 'no hints'}, ` +
      `${events.length} events (${Object.entries(counts)
        .map(([op, number]) => `${op} ${number}`)
        .join(', ')}), ${faults.length} faults`,
  )
  const first = faults[0]
  if (!first) return
  process.exitCode = 1
  for (const what of new Set(faults.map((fault) => fault.what))) {
    const those = faults.filter((fault) => fault.what === what)
    console.log(`  ${those.length} x ${what}, first at event ${those[0]?.event}`)
  }
  console.log(textOf(events.slice(Math.max(0, first.event - 5), first.event + 1)).trimEnd())
  const rule: AnyRule | null | undefined = options.without
  console.log(
    `To see it again: npm run simulate -- --seed ${seed} --steps ${options.steps ?? STEPS}${rule ? ` --off '${rule}'` : ''}`,
  )
}
