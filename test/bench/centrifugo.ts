import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '#test/support/test-servers'
import { directoryOfRun, type Measured, type Reading, startProgram } from './processes.ts'

/** The path to a binary of Centrifugo 6, which is measured too. */
export const centrifugoBinary = process.env.CENTRIFUGO_BIN

const startMilliseconds = 10_000
const lookAgainMilliseconds = 20
/** Microseconds of a clock tick, the unit of CPU time in `/proc`. */
const tickMicroseconds = 10_000

/** Channels with a history, from which clients recover: the closest to numbered rooms. Publishing needs no token. */
const settings = (port: number) => ({
  http_server: { address: '127.0.0.1', port: String(port) },
  client: { insecure: true },
  channel: {
    without_namespace: {
      history_size: 1_000,
      history_ttl: '600s',
      force_recovery: true,
      allow_subscribe_for_client: true,
      allow_publish_for_subscriber: true,
    },
  },
  log: { level: 'error' },
})

export async function startCentrifugo(binary: string): Promise<Measured> {
  const port = await freePort()
  const file = join(directoryOfRun(), 'centrifugo.json')
  writeFileSync(file, JSON.stringify(settings(port)))
  const startedAt = performance.now()
  const { pid } = startProgram(0, [binary, '--config', file], {})
  while (!(await listens(port))) {
    if (performance.now() - startedAt > startMilliseconds) throw new Error('Centrifugo does not listen')
    await sleep(lookAgainMilliseconds)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    pid: pid ?? 0,
    startMilliseconds: performance.now() - startedAt,
    probe: async () => readingOf(pid ?? 0),
  }
}

/** The CPU time and the whole resident memory of a process. */
function readingOf(pid: number): Reading {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return {
    cpuMicroseconds: (user + system) * tickMicroseconds,
    heapBytes: Number(kilobytes) * 1_024,
    rssBytes: Number(kilobytes) * 1_024,
    lagMilliseconds: null,
  }
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
