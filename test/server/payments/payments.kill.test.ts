import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { askPublic, paymentOf } from '#test/support/payments'
import { build } from '#test/support/programs'
import { openFacilitator } from '#test/support/providers'
import { freshDatabase, started } from '#test/support/started'
import { call, signIn, wallet } from '#test/support/wallet'

beforeAll(build)

const places = [
  'payment-reserved',
  'payment-verified',
  'payment-asked',
  'payment-answered',
  'payment-settled',
  'payment-begun',
] as const
const stores = ['the embedded store', ...(process.env.MONGODB_URI ? ['MongoDB'] : [])]
/** The places are those of the code; MongoDB shows that what it stored is taken up again. */
const placesOf = (store: string) =>
  store === 'MongoDB' ? places.filter((place) => /asked|settled/.test(place)) : places
const cases = stores.flatMap((store) => placesOf(store).map((place) => [place, store] as const))

interface Sold {
  environment: Record<string, string>
  token: string
  address: string
  /** An agent for each place. */
  agents: readonly string[]
}
const sold = new Map<string, Sold>()
const directories: string[] = []
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

beforeAll(async () => {
  for (const store of stores) {
    const directory = mkdtempSync(join(tmpdir(), 'plaza-payments-'))
    directories.push(directory)
    const environment = {
      // Who may have more than five agents.
      ADMINS: wallet('kill seller').address,
      BETA: 'open',
      DATA_DIR: directory,
      X402_FACILITATOR_URL: 'http://localhost:1',
      ...(store === 'MongoDB' && { MONGODB_URI: freshDatabase() }),
    }
    const { url, process } = await start(environment)
    const { sessionToken: token, address } = await signIn(url, wallet('kill seller'))
    const agents: string[] = []
    for (const place of places) {
      const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' }
      const given = { name: `Sold at ${place}`, visibility: 'public', ...price }
      const { agent } = (await call(url, 'POST /api/agents', given, token)).body as { agent: { id: string } }
      agents.push(agent.id)
    }
    await stop(process)
    sold.set(store, { environment, token, address, agents })
  }
})

test.each(cases)(
  'T30: a server that dies at %s, on %s, charges once and answers the same payment after',
  async (place, store) => {
    const facilitator = await openFacilitator()
    onTestFinished(() => facilitator.close())
    const { token, address, agents, environment: before } = sold.get(store) as Sold
    const environment = { ...before, X402_FACILITATOR_URL: facilitator.url }
    const agent = agents[places.indexOf(place)] as string

    const payment = await paymentOf(wallet('kill payer'), { to: address })
    const ask = (url: string) => askPublic(url, agent, 'What can you do?', payment)
    const dying = await start({ ...environment, FAILPOINT: place })
    const died = once(dying.process, 'exit')
    expect(await ask(dying.url).catch(() => null)).toBeNull()
    expect((await died)[1]).toBe('SIGKILL')

    const after = await start(environment)
    const outcomes: number[] = []
    const until = performance.now() + 60_000
    for (;;) {
      const { status, body } = await ask(after.url)
      outcomes.push(status)
      if (status === 200) {
        expect(body).toMatchObject({ success: true, payment: { state: 'settled' } })
        break
      }
      expect(performance.now()).toBeLessThan(until)
      await setTimeout(500)
    }
    expect(outcomes.filter((status) => ![200, 202, 409, 500].includes(status))).toEqual([])
    expect(facilitator.charged).toHaveLength(1)
    expect((await ask(after.url)).status).toBe(200)
    const receipts = await call(after.url, `GET /api/agents/${agent}/payments`, null, token)
    expect(receipts.body).toMatchObject({
      receipts: [{ state: 'settled' }],
      stats: { paidMessages: 1, totalEarnings: 5 },
    })
    await stop(after.process)
  },
)

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function start(environment: Record<string, string>): ReturnType<typeof started> {
  const server = await started({ RATE_LIMIT_SCALE: '1000', ...environment })
  children.push(server.process)
  return server
}
