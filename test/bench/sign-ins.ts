import { startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { people } from './room.ts'

const megabyte = 2 ** 20

/** What so many who sign in leave in the memory of a server, with Node's own space for what is young and with that of `npm start`. */
export async function measureSignIns(report: Report, count: number): Promise<void> {
  for (const youngMegabytes of [16, 64]) {
    const setting = { nodes: 1, store: 'embedded' }
    const tell = (name: string, value: number, target: number) =>
      report.tell({
        ...setting,
        name: `${count} sign-ins, --max-semi-space-size=${youngMegabytes}: ${name}`,
        value,
        target,
      })
    try {
      const server = await startPlaza({ nodeOptions: [`--max-semi-space-size=${youngMegabytes}`] })
      const before = await server.probe('memory')
      await people(server.url, count)
      const half = await server.probe()
      await people(server.url, count)
      const after = await server.probe()
      const still = await server.probe('memory')
      tell('MB more that the process holds', (half.rssBytes - before.rssBytes) / megabyte, 512)
      tell('MB more after as many again', (after.rssBytes - half.rssBytes) / megabyte, 200)
      tell('kB of each that are no garbage', (still.heapBytes - before.heapBytes) / 1_024 / count / 2, 20)
    } finally {
      await stopAll()
    }
  }
}
