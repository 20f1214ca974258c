import { setTimeout as sleep } from 'node:timers/promises'
import { agentRuns, runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { call, connect } from '#test/support/wallet'
import { median, percentiles } from './load.ts'
import { startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { people } from './room.ts'

/** The scripted model says its first word after this long. */
const firstWordMilliseconds = 45
const settleMilliseconds = 3_000
const setting = { nodes: 1, store: 'embedded' }

/** So many answers stream at once, one to each of as many people, by a model that says some twenty words a second and never ends. */
export async function measureRuns(report: Report, count: number, seconds: number): Promise<void> {
  try {
    const server = await startPlaza()
    const askers = await people(server.url, count)
    const made = await call(server.url, 'POST /api/agents', { name: 'Endless', visibility: 'public' }, askers[0]?.token)
    const { agent } = agents.create.output.parse(made.body)
    const lines = askers.map(({ token }) => connect(server.url, '/agents', token))
    await Promise.all(lines.map((line) => new Promise((resolve) => line.once('session:ready', resolve))))
    const before = await server.probe('memory')
    const firsts: number[] = []
    let frames = 0
    for (const line of lines) {
      let askedAt: number | null = performance.now()
      line.on(runFrame.name, ({ t }: { t: string }) => {
        frames++
        if (t !== 'chunk' || askedAt === null) return
        firsts.push(performance.now() - askedAt - firstWordMilliseconds)
        askedAt = null
      })
      const asked = { agent_id: agent.id, message: '/endless' }
      agentRuns.run.output.parse((await line.emitWithAck('agent:run', asked)).data)
    }
    await sleep(settleMilliseconds)
    const [framesBefore, cpuBefore, began] = [frames, await server.probe(), performance.now()]
    await sleep(seconds * 1_000)
    const [framesAfter, cpuAfter, took] = [frames, await server.probe(), (performance.now() - began) / 1_000]
    const after = await server.probe('memory')
    const tell = (name: string, value: number, target: number) =>
      report.tell({ ...setting, name: `${count.toLocaleString('en')} answers at once: ${name}`, value, target })
    const told = framesAfter - framesBefore
    tell('frames/s of each', told / took / count, 20)
    tell('server CPU us/frame', (cpuAfter.cpuMicroseconds - cpuBefore.cpuMicroseconds) / told, 250)
    tell('first token after the model’s, p50 ms', median(firsts), 250)
    tell('first token after the model’s, p99 ms', percentiles(firsts).p99, 1_000)
    tell('kB heap of each', (after.heapBytes - before.heapBytes) / count / 1_024, 150)
    for (const line of lines) line.close()
  } finally {
    await stopAll()
  }
}
