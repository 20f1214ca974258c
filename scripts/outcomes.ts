import { readFileSync } from 'node:fs'
import { api } from '#shared/api/index'
import { operationsOf, refusesSuspended } from '#shared/kit/contract'

/**
 * Prints the declared outcomes that no test has met, from the file of recorded ones. A second argument limits it to operations
 * whose names begin with it.
 */
const [file = '', only = ''] = process.argv.slice(2)
const met = new Set(readFileSync(file, 'utf8').split('\n'))
const judged = operationsOf(api).filter(({ name }) => name.startsWith(only))
if (judged.length === 0) throw new Error(`No operation begins with ${only}`)
const promised = judged.flatMap(({ name, operation }) =>
  [
    'ok',
    ...(operation.errors ?? []),
    ...(operation.freshProof ? ['REAUTHENTICATION_REQUIRED'] : []),
    ...(refusesSuspended(operation) ? ['SUSPENDED'] : []),
  ].map((outcome) => `${name} ${outcome}`),
)
const missing = promised.filter((outcome) => !met.has(outcome))

console.log(`${promised.length - missing.length} of ${promised.length} outcomes of the contract met.`)
for (const outcome of missing) console.log(`Never met: ${outcome}`)
process.exitCode = missing.length > 0 ? 1 : 0
