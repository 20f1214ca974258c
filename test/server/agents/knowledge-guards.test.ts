// Modes: embedded
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { KnowledgeChunks, KnowledgeItems } from '#server/domains/agents/library/model'
import { localEmbedder } from '#server/ports/model/local-embedder'
import type { Embedder } from '#server/ports/model/port'
import { fakeWeb } from '#server/ports/web/fake'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { knowledge, knowledgeEvents } from '#shared/api/agents/knowledge'
import { isTerminal } from '#shared/api/agents/run-frames'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { gate, knowers } from '#test/support/knowledge'
import { outcomeOf, over, type Person, person, staysSilent } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { wallet } from '#test/support/wallet'

const web = fakeWeb()
const puppet = puppetModel()
const local = localEmbedder()
let embedded = 0
const embedder: Embedder = {
  ...local,
  embed: (texts, signal) => {
    embedded += texts.length
    return local.embed(texts, signal)
  },
}
let server: Booted
let admin: Person
const { page, text, agentOf, fresh, added, known, readings } = knowers(web, () => server)

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { web, embedder, model: puppet.model },
  })
  admin = await person(server, 'admin')
})
afterAll(() => server.close())

const stored = (id: string) => KnowledgeItems.findOne({ _id: id }).lean()
const index = (owner: Person, id: string, knowledgeId: string) =>
  owner.tries('rest', knowledge.index, { id, knowledgeId })
const shown = async (owner: Person, id: string, knowledge_id: string) =>
  (await owner.does('rest', knowledge.get, { id, knowledge_id })).item
/** What a reading is refused with; empty where it is not. */
const failureOf = async (owner: Person, agent: string, item: string) => {
  const answer = await index(owner, agent, item)
  return answer.ok ? '' : answer.error.message
}
async function ask(owner: Person, agent: string, message: string) {
  const line = await owner.line('/agents')
  const { run_id } = await owner.does('socket', agents.run, { agent_id: agent, message })
  const { question, ...answer } = await puppet.asked()
  answer.say('Well.')
  answer.end()
  await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
  return question.turns.at(-1)?.content ?? ''
}

describe.each(over)('a URL that is added, over %s', (door) => {
  test('many times at once is known once, and known still where no other has room', async () => {
    const { owner, agent } = await fresh()
    const url = page()
    const add = (url: string) => owner.tries(door, knowledge.add, { id: agent, url, title: 'The canary' })
    const outcomes = (await Promise.all(Array.from({ length: 20 }, () => add(url)))).map(outcomeOf)
    expect(outcomes.sort()).toEqual(['200', ...Array(19).fill('400 KNOWLEDGE_EXISTS')])
    for (let at = 1; at < 10; at++) await add(page())
    expect(outcomeOf(await add(page()))).toBe('400 KNOWLEDGE_LIMIT_REACHED')
    expect(outcomeOf(await add(url))).toBe('400 KNOWLEDGE_EXISTS')
    const { items } = await owner.does(door, knowledge.list, { id: agent })
    expect(items.map(({ title }) => title)).toEqual(Array(10).fill('The canary'))
  })
})

describe('reading', () => {
  test('T65: takes 2,000 passages of an item, and 20,000 of an agent', heavy, async () => {
    const { owner, agent } = await fresh()
    const url = page()
    web.pages.set(url, { headers: { 'content-type': 'text/plain' }, body: 'tides '.repeat(310_000) })
    const large = await added(owner, agent, url)
    // On a machine that is busy the reader may take longer than it may.
    const read = async () => outcomeOf(await owner.tries('rest', knowledge.index, { id: agent, knowledgeId: large }))
    await expect.poll(read).toBe('200')
    expect((await stored(large))?.chunk_count).toBe(2_000)
    expect(await KnowledgeChunks.countDocuments({ knowledge_id: large })).toBe(2_000)
    const small = await added(owner, agent, page())
    const of = (chunk_count: number) => KnowledgeItems.updateOne({ _id: large }, { $set: { chunk_count } })
    await of(20_000)
    expect(await failureOf(owner, agent, small)).toContain('at most 20000 passages')
    expect(await KnowledgeChunks.countDocuments({ knowledge_id: small })).toBe(0)
    await of(19_999)
    expect(await failureOf(owner, agent, small)).toBe('')
  })

  test('is done without a condition where the page is read in another way, or for another embedder', async () => {
    const agent = await agentOf(admin, { visibility: 'official' })
    const url = page()
    web.pages.set(url, ({ headers }) =>
      headers?.['if-none-match']
        ? { status: 304, body: '' }
        : {
            headers: { 'content-type': 'text/html', etag: '"1"' },
            body: `<p>${text('The canary sings at seven.', 9)}`,
          },
    )
    const item = await known(admin, agent, url)
    const generation = async () => (await stored(item))?.generation
    const first = await generation()
    await index(admin, agent, item)
    expect(await generation()).toBe(first)
    await admin.does('rest', knowledge.update, { id: agent, knowledge_id: item, title: 'Canary' })
    await index(admin, agent, item)
    expect(await generation()).toBe(first)
    await admin.does('rest', knowledge.update, { id: agent, knowledge_id: item, scrapeMethod: 'advanced' })
    await index(admin, agent, item)
    const second = await generation()
    expect(second).not.toBe(first)
    await KnowledgeItems.updateOne({ _id: item }, { $set: { embedder: 'another' } })
    await KnowledgeChunks.updateMany({ knowledge_id: item }, { $set: { embedder: 'another' } })
    await index(admin, agent, item)
    expect(await generation()).not.toBe(second)
    const madeBy = async () =>
      (await KnowledgeChunks.find({ knowledge_id: item }).lean()).map(({ embedder }) => embedder)
    await expect.poll(madeBy).toEqual([local.name])
  })

  test('says of each failure why, and since when what is known is old', async () => {
    const { owner, agent } = await fresh()
    const url = page()
    const good = web.pages.get(url) ?? ''
    const item = await known(owner, agent, url)
    web.pages.set(url, 'silent')
    expect(await failureOf(owner, agent, item)).toBe('Failed to index: The page took too long')
    const { stale_since: since } = await shown(owner, agent, item)
    expect(since).not.toBeNull()
    web.pages.delete(url)
    expect(await failureOf(owner, agent, item)).toBe('Failed to index: The page could not be read')
    expect(await shown(owner, agent, item)).toMatchObject({ stale_since: since, status: 'failed', chunk_count: 1 })
    web.pages.set(url, good)
    expect(await failureOf(owner, agent, item)).toBe('')
    expect(await shown(owner, agent, item)).toMatchObject({ stale_since: null, error_message: null })
  })

  test('that fails three times for a reason of ours is told as such, and leaves nothing behind', heavy, async () => {
    const { owner, agent } = await fresh()
    const item = await added(owner, agent, page())
    const spy = vi.spyOn(KnowledgeChunks, 'insertMany').mockRejectedValue(new Error('The disk is full'))
    const failure = await failureOf(owner, agent, item)
    const attempts = spy.mock.calls.length
    spy.mockRestore()
    expect([failure, attempts]).toEqual(['Failed to index: The server could not index the page', 3])
    expect((await shown(owner, agent, item)).status).toBe('failed')
    expect(await failureOf(owner, agent, item)).toBe('')
  })

  test('takes the old passages away when the new ones stand, not before', async () => {
    const { owner, agent } = await fresh()
    const url = page()
    const item = await known(owner, agent, url)
    const before = (await stored(item))?.generation
    const stood: (string | null | undefined)[] = []
    const remove = KnowledgeChunks.deleteMany.bind(KnowledgeChunks)
    const spy = vi.spyOn(KnowledgeChunks, 'deleteMany').mockImplementation(((filter: { generation?: unknown }) => {
      const isOld = filter.generation === before || filter.generation === undefined
      return isOld
        ? (async () => {
            stood.push((await stored(item))?.generation)
            return remove(filter as never)
          })()
        : remove(filter as never)
    }) as never)
    web.pages.set(url, `<p>${text('The canary sings at nine now, in the new harbour.')}`)
    expect(await failureOf(owner, agent, item)).toBe('')
    const now = (await stored(item))?.generation
    expect(now).not.toBe(before)
    await expect.poll(() => stood).toEqual([now])
    spy.mockRestore()
    await expect.poll(() => KnowledgeChunks.countDocuments({ knowledge_id: item })).toBe(1)
  })

  test.each([
    [
      'the old ones cannot be taken away',
      (old: string) => {
        const remove = KnowledgeChunks.deleteMany.bind(KnowledgeChunks)
        let fails = 1
        return vi.spyOn(KnowledgeChunks, 'deleteMany').mockImplementation(((filter: { generation?: unknown }) => {
          if (filter.generation === old && fails-- > 0) throw new Error('The store is away')
          return remove(filter as never)
        }) as never)
      },
    ],
    [
      'nobody hears that they stand',
      () => {
        const update = KnowledgeItems.updateOne.bind(KnowledgeItems)
        let fails = 1
        return vi.spyOn(KnowledgeItems, 'updateOne').mockImplementation(((
          filter: never,
          change: { $set: { status?: unknown } },
        ) => {
          if (change.$set.status !== 'indexed' || fails-- <= 0) return update(filter, change)
          return update(filter, change).then(() => {
            throw new Error('The answer was lost')
          })
        }) as never)
      },
    ],
  ])('keeps the new passages where %s', async (_what, fail) => {
    const { owner, agent } = await fresh()
    const url = page()
    const item = await known(owner, agent, url)
    const spy = fail((await stored(item))?.generation ?? '')
    onTestFinished(() => void spy.mockRestore())
    web.pages.set(url, `<p>${text('The canary sings at nine now, in the new harbour.')}`)
    expect(await failureOf(owner, agent, item)).toBe('')
    const { status, generation, chunk_count } = (await stored(item)) ?? {}
    expect({ status, chunk_count }).toEqual({ status: 'indexed', chunk_count: 1 })
    await expect.poll(() => KnowledgeChunks.countDocuments({ knowledge_id: item })).toBe(1)
    expect(await KnowledgeChunks.countDocuments({ knowledge_id: item, generation: generation ?? '' })).toBe(1)
    expect(await ask(owner, agent, 'When does the canary sing?')).toContain('at nine')
  })

  test('is told page by page and each change once, and to nobody who has gone', heavy, async () => {
    const agent = await agentOf(admin, { visibility: 'official' })
    const held = gate()
    const root = 'https://crawled.test/'
    const linked = (at: string) =>
      `<p>${text(`The canary number ${at} sings in the harbour.`)}<a href="/b">b</a><a href="/c">c</a>`
    for (const at of ['', 'b']) web.pages.set(`${root}${at}`, linked(at))
    web.pages.set(`${root}c`, async () => {
      await held.opened
      return linked('c')
    })
    const item = await added(admin, agent, root, { scrapeMethod: 'advanced', crawlDepth: 2 })
    const line = await admin.socket('/agents')
    await admin.does(line, knowledge.watch, { agent_id: agent })
    await admin.does(line, knowledge.watch, { agent_id: agent })
    const reading = index(admin, agent, item)
    await line.hears(knowledgeEvents.knowledgeEvent, ({ status, pages }) => status === 'processing' && pages === 2)
    held.open()
    await reading
    await line.hears(knowledgeEvents.knowledgeEvent, ({ status, pages }) => status === 'indexed' && pages === 3)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(line.all(knowledgeEvents.knowledgeEvent).filter(({ status }) => status === 'indexed')).toHaveLength(1)
    const looks = vi.spyOn(KnowledgeItems, 'find')
    const looked = () => looks.mock.calls.filter(([filter]) => JSON.stringify(filter).includes(agent)).length
    await expect.poll(looked).toBeGreaterThan(0)
    line.socket.disconnect()
    await expect
      .poll(async () => {
        looks.mockClear()
        await new Promise((resolve) => setTimeout(resolve, 1_200))
        return looked()
      })
      .toBe(0)
    looks.mockRestore()
  })

  test('T09: is told to nobody who may not change the agent any more', async () => {
    const { owner, agent } = await fresh()
    const [line, elsewhere] = await Promise.all([owner.socket('/agents'), admin.socket('/agents')])
    await owner.does(line, knowledge.watch, { agent_id: agent })
    await Agents.updateOne({ _id: agent }, { $set: { visibility: 'official' } })
    await admin.does(elsewhere, knowledge.watch, { agent_id: agent })
    const item = await added(admin, agent, page())
    await elsewhere.hears(knowledgeEvents.knowledgeEvent, ({ knowledge_id }) => knowledge_id === item)
    await staysSilent(line, knowledgeEvents.knowledgeEvent)
    expect(line.all(knowledgeEvents.knowledgeEvent)).toEqual([])
  })
})

describe('an answer is made', () => {
  test('of the eight passages that fit best', async () => {
    const { owner, agent } = await fresh()
    for (let at = 0; at < 3; at++)
      await known(owner, agent, page(text(`The canary number ${at} sings at seven in the harbour.`, 90)))
    const prompt = await ask(owner, agent, 'When does the canary sing?')
    expect(prompt.match(/^\[\d+\] /gm)).toHaveLength(8)
  })

  test(
    'of at most 200 passages of a page that was never indexed, which holds it up for 5 s at most',
    heavy,
    async () => {
      const { owner, agent } = await fresh()
      await added(owner, agent, page(text('The canary sings at seven in the harbour.', 8_000)))
      embedded = 0
      expect(await ask(owner, agent, 'When does the canary sing?')).toContain('at seven')
      expect(embedded).toBe(201)
      const url = page()
      web.pages.set(
        url,
        ({ signal }) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      )
      await added(owner, agent, url)
      const began = performance.now()
      expect(await ask(owner, agent, 'When does the canary sing?')).toContain('at seven')
      expect(performance.now() - began).toBeLessThan(50_000)
      expect(readings(url)).toBe(1)
    },
  )

  test('also where the passages could not be read the time before, or change between two reads', async () => {
    const { owner, agent } = await fresh()
    const item = await known(owner, agent, page())
    const spy = vi.spyOn(KnowledgeChunks, 'find')
    spy.mockImplementationOnce(() => {
      throw new Error('The store is away')
    })
    const { run_id } = await owner.does('socket', agents.run, { agent_id: agent, message: 'When does it sing?' })
    await (await owner.line('/agents')).hears(runFrame, (frame) => frame.run_id === run_id && frame.t === 'error')
    expect(await ask(owner, agent, 'When does the canary sing?')).toContain('at seven')
    const before = (await stored(item))?.generation ?? ''
    await KnowledgeItems.updateOne({ _id: item }, { $set: { generation: 'unread' } })
    // Another reading ends between the two: the passages of the generation that the items name are gone.
    const lean = async () => {
      await KnowledgeItems.updateOne({ _id: item }, { $set: { generation: before } })
      return []
    }
    spy.mockImplementationOnce((() => ({ sort: () => ({ lean }) })) as never)
    expect(await ask(owner, agent, 'When does the canary sing?')).toContain('at seven')
    spy.mockRestore()
  })
})
