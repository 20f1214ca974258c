import { readFileSync } from 'node:fs'
import { api } from '#shared/api/index'
import { operationsOf } from '#shared/kit/contract'

/** Says which promised outcome no test has met, given the file in which the tests noted what they met. */
const met = new Set(readFileSync(process.argv[2] ?? '', 'utf8').split('\n'))
const promised = operationsOf(api).flatMap(({ name, operation }) =>
  ['ok', ...(operation.errors ?? []), ...(operation.freshProof ? ['REAUTHENTICATION_REQUIRED'] : [])].map(
    (outcome) => `${name} ${outcome}`,
  ),
)
const missing = promised.filter((outcome) => !met.has(outcome))

console.log(`${promised.length - missing.length} of ${promised.length} outcomes of the contract met.`)
for (const outcome of missing) console.log(`Never met: ${outcome}`)
process.exitCode = missing.length > 0 ? 1 : 0
