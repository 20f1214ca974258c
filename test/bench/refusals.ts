import { setTimeout as sleep } from 'node:timers/promises'
import { budgets } from '#server/kernel/limits/budgets'
import { closed } from '#test/support/closed'
import { sent } from '#test/support/raw-connection'
import { call } from '#test/support/wallet'
import { startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'

const connections = 400
const line = 'GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** What a request of an address costs the server that has asked too much, with its share of a connection, which few of them end. */
export async function measureRefusals(report: Report): Promise<void> {
  try {
    const { url, probe } = await startPlaza({ rateLimitScale: 1 })
    for (let at = 0; at < budgets.requestsOfAddress.most; at++) await call(url, 'GET /api/status').catch(() => {})
    await refused(url)
    const before = await probe()
    for (let at = 0; at < connections; at++) {
      await refused(url)
      // An address may open so many connections a second.
      await sleep(1_000 / budgets.openedOfAddress.most)
    }
    const micros = (await probe()).cpuMicroseconds - before.cpuMicroseconds
    const value = micros / connections / budgets.refusedRequests.most
    report.tell({ nodes: 1, store: 'embedded', name: 'server CPU of a refused request, us', value, target: 250 })
  } finally {
    await stopAll()
  }
}

async function refused(url: string): Promise<void> {
  const { socket, statuses } = sent(url, line.repeat(budgets.refusedRequests.most))
  await closed(socket)
  const told = statuses()
  if (told.length !== budgets.refusedRequests.most || told.some((status) => status !== 429))
    throw new Error(`Not refused: ${told}`)
}
