// Modes: embedded
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { knowledge as domain } from '#server/domains/agents/knowledge/index'
import { KnowledgeItems } from '#server/domains/agents/library/model'
import { fakeWeb } from '#server/ports/web/fake'
import { agents } from '#shared/api/agents/agents'
import { knowledge } from '#shared/api/agents/knowledge'
import { accounts } from '#shared/api/people/accounts'
import { type Booted, boot } from '#test/support/boot'
import { gate, knowers } from '#test/support/knowledge'
import { outcomeOf, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const hour = 3_600_000
const web = fakeWeb()
const cronSecret = 'the-secret-of-the-scheduler'
let server: Booted
let bob: Person
let admin: Person
const { page, text, agentOf, fresh, added, readings } = knowers(web, () => server)

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open', CRON_SECRET: cronSecret },
    services: { web },
  })
  bob = await person(server, 'bob')
  admin = await person(server, 'admin')
})
afterAll(() => server.close())

const stored = (id: string) => KnowledgeItems.findOne({ _id: id }).lean()
const official = () => agentOf(admin, { visibility: 'official' })
const makeDue = (id: string) =>
  KnowledgeItems.updateOne({ _id: id }, { $set: { sync_at: new Date(Date.now() - 1_000) } })
const readDue = async () =>
  (await (
    await fetch(`${server.url}/api/cron/sync-knowledge`, { headers: { authorization: `Bearer ${cronSecret}` } })
  ).json()) as { results: { total: number; successful: number; failed: number; details: { url: string }[] } }

describe('what an agent knows is read at once', () => {
  test('T09: for its owner and for admins alone, and only as what that agent knows', async () => {
    const { owner, agent } = await fresh()
    const url = page()
    const item = await added(owner, agent, url)
    expect(outcomeOf(await bob.tries('rest', knowledge.sync, { knowledgeId: item }))).toBe('404 KNOWLEDGE_NOT_FOUND')
    expect(outcomeOf(await bob.tries('rest', knowledge.sync, { knowledgeId: item, agentId: agent }))).toBe(
      '404 KNOWLEDGE_NOT_FOUND',
    )
    const others = { knowledgeId: item, agentId: await agentOf(owner) }
    expect(outcomeOf(await owner.tries('rest', knowledge.sync, others))).toBe('404 KNOWLEDGE_NOT_FOUND')
    expect(readings(url)).toBe(0)
    expect(await admin.does('rest', knowledge.sync, { knowledgeId: item })).toEqual({ success: true, chunksIndexed: 1 })
    expect(await admin.does('rest', knowledge.sync, { agentId: agent })).toMatchObject({ results: [{ success: true }] })
  })

  test('not for who is suspended', async () => {
    const { owner, agent } = await fresh()
    const url = page()
    await added(owner, agent, url)
    await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: true })
    expect(outcomeOf(await owner.tries('rest', knowledge.sync, { agentId: agent }))).toBe('403 SUSPENDED')
    expect(readings(url)).toBe(0)
  })

  test('for 25 seconds; what takes longer goes on, and who asked is told when to look again', async () => {
    const { owner, agent } = await fresh()
    const [free, url] = [gate(), page()]
    const body = text('The canary sings at seven in the old harbour of the town.')
    web.pages.set(url, async () => {
      await free.opened
      return body
    })
    const item = await added(owner, agent, url)
    const now = performance.now.bind(performance)
    const looks = vi.spyOn(KnowledgeItems, 'findOne')
    /** Asks, and lets 26 seconds go by once it is waited for. */
    async function waited<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
      looks.mockClear()
      const asked = ask()
      await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(4)
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 26_000)
      const answer = await asked
      clock.mockRestore()
      return answer
    }
    const indexed = await waited(() => owner.refused('rest', knowledge.index, { id: agent, knowledgeId: item }))
    const one = await waited(() => owner.does('rest', knowledge.sync, { knowledgeId: item }))
    const all = await waited(() => owner.does('rest', knowledge.sync, { agentId: agent }))
    looks.mockRestore()
    expect(indexed).toMatchObject({ status: 409, code: 'KNOWLEDGE_INDEXING', retryAfter: 5 })
    const waits = { success: false, error: 'It is still being read', retryAfter: 5 }
    expect([one, all.results]).toEqual([{ ...waits, chunksIndexed: 0 }, [{ url, ...waits }]])
    const again = await owner.refused('rest', knowledge.index, { id: agent, knowledgeId: item })
    expect(again).toMatchObject({ code: 'KNOWLEDGE_INDEXING', retryAfter: 5 })
    free.open()
    const status = async () => (await owner.does('rest', knowledge.get, { id: agent, knowledge_id: item })).item.status
    await expect.poll(status).toBe('indexed')
  })

  test('once for all who ask before it begins', async () => {
    const { owner, agent } = await fresh()
    const free = gate()
    // As many as a node reads at once, so that the next ones wait.
    const busy = await Promise.all(
      Array.from({ length: 3 * server.urls.length }, async () => {
        const url = page()
        web.pages.set(url, async () => {
          await free.opened
          return text('The canary sings at nine, and at ten when the sun is late.')
        })
        return { url, id: await added(owner, agent, url) }
      }),
    )
    const begun = busy.map(({ id }) => owner.does('rest', knowledge.index, { id: agent, knowledgeId: id }))
    await expect.poll(() => busy.map(({ url }) => readings(url))).toEqual(busy.map(() => 1))
    const url = page()
    const item = await added(owner, agent, url)
    const stored = server.apps.map(({ node }) => vi.spyOn(node.jobs, 'add'))
    const asked = Array.from({ length: 20 }, () => owner.tries('rest', knowledge.sync, { knowledgeId: item }))
    const known = () => stored.flatMap(({ mock }) => mock.settledResults).filter(({ type }) => type === 'fulfilled')
    await expect.poll(() => known().length).toBe(20)
    for (const spy of stored) spy.mockRestore()
    free.open()
    const outcomes = (await Promise.all(asked)).map((answer) => answer.ok && answer.data.success)
    expect(outcomes).toEqual(asked.map(() => true))
    await Promise.all(begun)
    expect(readings(url)).toBe(1)
    await owner.does('rest', knowledge.sync, { knowledgeId: item })
    expect(readings(url)).toBe(2)
  })

  test('with the reason where it cannot be read', async () => {
    const { owner, agent } = await fresh()
    const [good, bad] = [page(), page()]
    web.pages.set(bad, { status: 503, body: 'no' })
    await added(owner, agent, good)
    const item = await added(owner, agent, bad)
    const error = 'The page answered with status 503'
    expect(await owner.does('rest', knowledge.sync, { knowledgeId: item })).toEqual({
      success: false,
      chunksIndexed: 0,
      error,
    })
    expect((await owner.does('rest', knowledge.sync, { agentId: agent })).results).toEqual([
      { url: good, success: true, chunks: 1 },
      { url: bad, success: false, error },
    ])
  })

  test('and is not waited for where it is taken away meanwhile', async () => {
    const { owner, agent } = await fresh()
    const url = page()
    const free = gate()
    web.pages.set(url, async () => {
      await free.opened
      return text('The canary sings at nine, and at ten when the sun is late.')
    })
    const item = await added(owner, agent, url)
    const asked = owner.tries('rest', knowledge.index, { id: agent, knowledgeId: item })
    await expect.poll(() => readings(url)).toBe(1)
    const began = performance.now()
    await owner.does('rest', knowledge.remove, { id: agent, knowledge_id: item })
    expect(outcomeOf(await asked)).toBe('404 KNOWLEDGE_NOT_FOUND')
    // A reading that goes on is waited for 25 s.
    expect(performance.now() - began).toBeLessThan(15_000)
    free.open()
  })
})

describe('what an official agent knows is due', () => {
  test('so long after it was read as its interval says, and not where it is not kept up to date', async () => {
    const agent = await official()
    const change = (item: string, more: object) =>
      admin.does('rest', knowledge.update, { id: agent, knowledge_id: item, ...more })
    const dueIn = async (item: string) => ((await stored(item))?.sync_at?.getTime() ?? Number.NaN) - Date.now()
    const item = await added(admin, agent, page(), { autoSync: true, syncIntervalHours: 2 })
    expect(Math.abs((await dueIn(item)) - 2 * hour)).toBeLessThan(60_000)
    await change(item, { syncIntervalHours: 5 })
    expect(Math.abs((await dueIn(item)) - 5 * hour)).toBeLessThan(60_000)
    await admin.does('rest', knowledge.index, { id: agent, knowledgeId: item })
    const { item: read } = await admin.does('rest', knowledge.get, { id: agent, knowledge_id: item })
    expect(Math.abs(Date.parse(read.last_synced_at ?? '') - Date.now())).toBeLessThan(60_000)
    await KnowledgeItems.updateOne({ _id: item }, { $set: { last_synced_at: new Date(Date.now() - 4 * hour) } })
    await change(item, { syncIntervalHours: 3 })
    expect(Math.abs((await dueIn(item)) + hour)).toBeLessThan(60_000)
    await change(item, { auto_sync: false })
    expect((await stored(item))?.sync_at).toBeUndefined()
    expect(await readDue()).toMatchObject({ results: { total: 0 } })
  })

  test('as long as the agent is official, and not while it is read', async () => {
    const agent = await official()
    const [one, other] = [page(), page()]
    const items = [
      await added(admin, agent, one, { autoSync: true }),
      await added(admin, agent, other, { autoSync: true }),
    ]
    for (const item of items) await makeDue(item)
    await KnowledgeItems.updateOne(
      { _id: items[0] ?? '' },
      { $set: { status: 'processing', job: 'another', claimed_at: new Date() } },
    )
    await admin.does('rest', agents.update, { id: agent, visibility: 'public' })
    expect(await readDue()).toMatchObject({ results: { total: 0 } })
    await admin.does('rest', agents.update, { id: agent, visibility: 'official' })
    expect(await readDue()).toMatchObject({ results: { total: 1, details: [{ url: other }] } })
    expect([readings(one), readings(other)]).toEqual([0, 1])
    await admin.does('rest', agents.remove, { id: agent })
  })

  test('and counted by how it went', async () => {
    const agent = await official()
    const [good, bad] = [page(), page()]
    web.pages.set(bad, { status: 503, body: 'no' })
    for (const url of [good, bad]) await makeDue(await added(admin, agent, url, { autoSync: true }))
    expect(await readDue()).toMatchObject({ results: { total: 2, successful: 1, failed: 1 } })
  })

  test('and read by itself, once by all nodes', async () => {
    const agent = await official()
    const url = page()
    const item = await added(admin, agent, url, { autoSync: true })
    await makeDue(item)
    const nodes = server.apps.flatMap(({ node }) => [node, node])
    const stops = (await Promise.all(nodes.map((node) => domain.start?.(node) ?? []))).flat()
    await expect.poll(async () => (await stored(item))?.status).toBe('indexed')
    for (const stop of stops) stop()
    expect(readings(url)).toBe(1)
    expect((await stored(item))?.sync_at?.getTime()).toBeGreaterThan(Date.now() + hour)
  })
})
