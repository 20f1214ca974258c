// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { KnowledgeChunks, KnowledgeItems } from '#server/domains/agents/library/model'
import { newItem } from '#server/domains/agents/library/new-item'
import { searchChunks } from '#server/domains/agents/library/retrieve'
import { vectorBytes } from '#server/domains/agents/library/search/exact'
import type { NearestQuestion } from '#server/ports/database/port'
import { localEmbedder } from '#server/ports/model/local-embedder'
import { type Booted, boot } from '#test/support/boot'

const asked: NearestQuestion[] = []
const embedder = localEmbedder()
let near: string[] | null = null
const vectors = {
  async nearest(question: NearestQuestion) {
    asked.push(question)
    return near
  },
}
const vectorOf = async (text: string) =>
  (await embedder.embed([text], AbortSignal.timeout(10_000)))[0] ?? new Float32Array()
let server: Booted
beforeAll(async () => {
  server = await boot({ nodes: 1, services: { vectors, embedder } })
})
afterAll(() => server.close())

const chunksOf = async (agent: string, count: number) => {
  const generation = `${agent} now`
  const item = newItem(
    { id: `item of ${agent}`, agent, url: new URL(`https://${agent}.test/`), title: 'Birds' },
    Date.now(),
  )
  const { name } = embedder
  await KnowledgeItems.create({ ...item, generation, chunk_count: count, status: 'indexed', embedder: name, place: 0 })
  const vector = vectorBytes(await vectorOf('The canary sings'))
  const rows = Array.from({ length: count }, (_, n) => ({
    _id: `${agent} ${n}`,
    agent_id: agent,
    knowledge_id: item._id,
    generation,
    n,
    url: `https://${agent}.test/`,
    title: 'Birds',
    text: `The canary sings at ${n}`,
    vector,
    embedder: name,
  }))
  await KnowledgeChunks.insertMany(rows)
  return rows.map(({ _id }) => _id)
}
const found = async (agent: string, text = 'When does the canary sing?') => {
  const [app] = server.apps
  if (!app) throw new Error('There is no node')
  return (await searchChunks(app.node, agent, { text, vector: await vectorOf(text) }, 8)).map(({ _id }) => _id)
}

test('the database is asked for the nearest of many chunks, of this agent and its generations alone', async () => {
  const ids = await chunksOf('many', 300)
  near = ids.slice(50, 250)
  const hits = await found('many')
  expect(hits).toHaveLength(8)
  expect(near).toEqual(expect.arrayContaining(hits))
  const where = { agent_id: 'many', generation: { $in: ['many now'] }, embedder: embedder.name }
  expect(asked.at(-1)).toMatchObject({ where, most: 200 })
})

test('what the database names of another agent is not shown, and all is compared instead', async () => {
  const others = await chunksOf('other', 300)
  await chunksOf('mine', 300)
  near = others.slice(0, 200)
  const hits = await found('mine')
  expect(hits).toHaveLength(8)
  expect(hits.every((id) => id.startsWith('mine '))).toBe(true)
})

test('all chunks are compared where the database cannot say it, and of few it is not asked', async () => {
  await chunksOf('silent', 300)
  near = null
  expect(await found('silent')).toHaveLength(8)
  await chunksOf('few', 20)
  asked.length = 0
  expect(await found('few')).toHaveLength(8)
  expect(asked).toEqual([])
})
