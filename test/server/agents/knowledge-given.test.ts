// Modes: embedded
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { KnowledgeChunks, KnowledgeItems, KnowledgeTexts } from '#server/domains/agents/library/model'
import { fakeWeb } from '#server/ports/web/fake'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { knowledge } from '#shared/api/agents/knowledge'
import { isTerminal } from '#shared/api/agents/run-frames'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { docxOf, pdfOf } from '#test/support/documents'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'

const puppet = puppetModel()
let server: Booted
let made = 0
beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' }, services: { web: fakeWeb(), model: puppet.model } })
})
afterAll(() => server.close())

const moon = 'The moon pulls the sea, and the sea follows it, twice a day, all around the world.'

async function fresh() {
  const owner = await person(server, `knower ${++made}`)
  const { agent } = await owner.does('rest', agents.create, { name: 'Knower', useKnowledgeBase: true })
  return { owner, id: agent.id }
}

/** Uploads a file, as a form with its name. */
async function upload({ token, url }: Person, id: string, name: string, bytes: Uint8Array | string) {
  const form = new FormData()
  form.set('name', name)
  form.set('file', new Blob([bytes as BlobPart]), name)
  const headers = { authorization: `Bearer ${token}`, 'x-idempotency-key': randomUUID() }
  const answer = await fetch(`${url}/api/agents/${id}/knowledge/files`, { method: 'POST', headers, body: form })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> & { item: { id: string } } }
}

const read = (owner: Person, id: string, knowledgeId: string) =>
  owner.does('rest', knowledge.index, { id, knowledgeId })

/** The passages that an answer to this question cites. */
async function citedFor(owner: Person, id: string, message: string) {
  const line = await owner.line('/agents')
  const { run_id } = await owner.does('socket', agents.run, { agent_id: id, message })
  const answer = await puppet.asked()
  answer.say('Well.')
  answer.end()
  await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
  const frames = line.all(runFrame).filter((frame) => frame.run_id === run_id)
  return { citations: frames.filter(({ t }) => t === 'citation'), prompt: answer.question.turns.at(-1)?.content ?? '' }
}

const wordDocument = docxOf(`<w:p><w:r><w:t>${moon}</w:t></w:r></w:p>`)

describe('a text that an agent is given', () => {
  test.each(over)('is known, cited by its title, and taken away, over %s', async (door) => {
    const { owner, id } = await fresh()
    const { item } = await owner.does(door, knowledge.addText, { id, title: 'Tides', text: moon })
    expect(item).toMatchObject({ title: 'Tides', content_type: 'text', status: 'pending' })
    expect(await read(owner, id, item.id)).toMatchObject({ chunksIndexed: 1 })
    const { citations, prompt } = await citedFor(owner, id, 'What pulls the sea?')
    expect(citations).toMatchObject([{ title: 'Tides', knowledge_id: item.id, url: `urn:plaza:knowledge:${item.id}` }])
    expect(prompt).toContain(moon)
    await owner.does(door, knowledge.remove, { id, knowledge_id: item.id })
    expect(await KnowledgeTexts.exists({ _id: item.id })).toBeNull()
    expect(await KnowledgeChunks.exists({ knowledge_id: item.id })).toBeNull()
  })

  test.each(over)('is refused where it is too short, or of another’s agent, over %s', async (door) => {
    const { owner, id } = await fresh()
    const add = (who: Person, text: string) => who.tries(door, knowledge.addText, { id, title: 'Tides', text })
    expect(outcomeOf(await add(owner, 'Short'))).toBe('400 VALIDATION_ERROR')
    expect(outcomeOf(await add(owner, 'x'.repeat(25_001)))).toBe('400 VALIDATION_ERROR')
    const stranger = await person(server, `stranger ${++made}`)
    expect(outcomeOf(await add(stranger, moon))).toBe('404 AGENT_NOT_FOUND')
    await owner.does('rest', agents.update, { id, visibility: 'public' })
    expect(outcomeOf(await add(stranger, moon))).toBe('403 AGENT_PRIVATE')
    expect(await KnowledgeTexts.countDocuments({ agent_id: id })).toBe(0)
  })

  test('counts among what an agent may know, and leaves nothing where that is too much', async () => {
    const { owner, id } = await fresh()
    for (let at = 0; at < 10; at++) await owner.does('rest', knowledge.addText, { id, title: `${at}`, text: moon })
    const refused = await owner.refused('rest', knowledge.addText, { id, title: 'Eleven', text: moon })
    expect(refused.code).toBe('KNOWLEDGE_LIMIT_REACHED')
    expect((await upload(owner, id, 'a.txt', moon)).body.code).toBe('KNOWLEDGE_LIMIT_REACHED')
    expect(await KnowledgeTexts.countDocuments({ agent_id: id })).toBe(10)
  })

  test('goes with its agent', async () => {
    const { owner, id } = await fresh()
    await owner.does('rest', knowledge.addText, { id, title: 'Tides', text: moon })
    await owner.does('rest', agents.remove, { id })
    await expect.poll(() => KnowledgeTexts.countDocuments({ agent_id: id })).toBe(0)
    await expect.poll(() => KnowledgeItems.countDocuments({ agent_id: id })).toBe(0)
  })
})

describe('a file that an agent is given', () => {
  test.each([
    ['a PDF', 'tides.pdf', pdfOf('Tides', [moon])],
    ['a Word document', 'tides.docx', wordDocument],
    ['Markdown', 'tides.md', `# Tides\n\n${moon}`],
    ['text', 'tides.txt', moon],
    ['CSV', 'tides.csv', `what,says\nmoon,"${moon}"`],
  ])('is read, known and cited by its name: %s', async (_what, name, bytes) => {
    const { owner, id } = await fresh()
    const { status, body } = await upload(owner, id, name, bytes)
    expect([status, body.item]).toMatchObject([200, { title: name, content_type: 'file' }])
    await read(owner, id, body.item.id)
    const { citations, prompt } = await citedFor(owner, id, 'What pulls the sea?')
    expect(citations).toMatchObject([{ title: name }])
    expect(prompt).toContain('The moon pulls the sea')
  })

  test.each([
    ['a picture', 'a.png', Buffer.from('\u0089PNG\r\n\u001a\n\u0000\u0000\u0000', 'latin1'), 415],
    ['an archive of something else', 'a.docx', Buffer.from('PK\u0003\u0004 and no more'), 415],
    ['a Word document without text', 'a.docx', docxOf('<w:p/>'), 415],
    ['a broken PDF', 'a.pdf', '%PDF-1.4 and no more', 502],
    ['almost nothing', 'a.txt', 'Short', 400],
  ])(
    'is refused with the reason where it cannot be used, and leaves nothing: %s',
    async (_what, name, bytes, status) => {
      const { owner, id } = await fresh()
      const refused = await upload(owner, id, name, bytes)
      expect(refused.status).toBe(status)
      expect(String(refused.body.error).length).toBeGreaterThan(10)
      expect(await KnowledgeTexts.countDocuments({ agent_id: id })).toBe(0)
    },
  )

  test('of another’s agent is refused', async () => {
    const { owner, id } = await fresh()
    const stranger = await person(server, `stranger ${++made}`)
    expect((await upload(stranger, id, 'a.txt', moon)).status).toBe(404)
    await owner.does('rest', agents.update, { id, visibility: 'public' })
    expect((await upload(stranger, id, 'a.txt', moon)).body.code).toBe('AGENT_PRIVATE')
  })

  test('is refused where its text is too long, or takes too long to read', async () => {
    const { owner, id } = await fresh()
    expect((await upload(owner, id, 'a.txt', `${moon}\n`.repeat(7_000))).body.code).toBe('PAYLOAD_TOO_LARGE')
    const { reader } = server.apps[0]?.node.services ?? expect.fail()
    vi.spyOn(reader, 'read').mockRejectedValueOnce(new AppError('TIMEOUT'))
    expect((await upload(owner, id, 'a.txt', moon)).body.code).toBe('TIMEOUT')
    expect(await KnowledgeTexts.countDocuments({ agent_id: id })).toBe(0)
  })

  test('is read thirty times an hour', async () => {
    await server.close()
    server = await boot({ environment: { BETA: 'open', RATE_LIMIT_SCALE: '1' } })
    const owner = await person(server, 'reader')
    const { id } = (await owner.does('rest', agents.create, { name: 'Reader' })).agent
    const statuses: number[] = []
    for (let at = 0; at < 31; at++) statuses.push((await upload(owner, id, 'a.txt', 'Short')).status)
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(400))
    expect(statuses.at(-1)).toBe(429)
  })
})
