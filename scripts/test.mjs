// `npm test`: Node 24 runs the suite, whichever Node this is. Node 20 runs what `test/suite/tiers.ts` leaves to it.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { provisionNode } from './test-servers.mjs'

const newest = provisionNode(24)
const oldest = provisionNode(20)
for (const { missing } of [newest, oldest]) if (missing) fail(missing)
const suite = fileURLToPath(new URL('../test/suite/main.ts', import.meta.url))
const child = spawn(newest.name, [suite, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, PLAZA_SUITE_OLDEST_NODE: oldest.name },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.once('close', (code) => {
  process.exitCode = code ?? 1
})

function fail(reason) {
  console.log(`Failed: ${reason}\n0 passed, 1 failed`)
  process.exit(1)
}
