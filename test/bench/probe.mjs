import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

// Loaded into the server that is measured: tells what it has used, and how late its turns were since the last time it was asked.
process.on('message', (message) => {
  if (message === 'memory') collectGarbage()
  const { user, system } = process.cpuUsage()
  const lagMilliseconds = Math.max(0, delay.percentile(99) / 1e6 - 5)
  const { heapUsed, external, rss } = process.memoryUsage()
  process.send?.({ cpuMicroseconds: user + system, heapBytes: heapUsed + external, rssBytes: rss, lagMilliseconds })
  delay.reset()
})

/** An option of the start would make the server compile anew what its build has compiled. */
function collectGarbage() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
