import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { agentWriting } from '#shared/api/agents/agent-rooms'
import { agents } from '#shared/api/agents/agents'
import { messages } from '#shared/api/rooms/messages'
import { channelOf, listenTo, type Person, personAt, say } from '#test/support/people'
import { build } from '#test/support/programs'
import { freshDatabase, started } from '#test/support/started'
import { wallet } from '#test/support/wallet'

beforeAll(build)

const environment = { ADMINS: wallet('admin').address, BETA: 'open', MODEL: 'scripted' }

/** A question in a room, and the process that dies as soon as the room was told the first words of the answer. */
async function askedAndKilled({ url, process }: Awaited<ReturnType<typeof start>>) {
  const asker = `asker ${crypto.randomUUID()}`
  const alice = await personAt(url, asker)
  const admin = await personAt(url, 'admin')
  const room = await channelOf(alice)
  const { agent } = await admin.does('rest', agents.create, { name: asker.slice(0, 30), visibility: 'official' })
  await admin.does('rest', agents.joinRoom, { id: agent.id, channelType: 'channel', channelId: room.id })
  const line = await listenTo(alice, room)
  const { id } = await say(alice, room, `@[${agent.name}](${agent.id}) what is this?`)
  await line.hears(agentWriting, ({ text }) => text !== '')
  process.kill('SIGKILL')
  await once(process, 'exit')
  return { asker, room, question: id, agent: agent.id }
}

const start = (more: Record<string, string>) => started({ ...environment, ...more })

async function expectOneAnswer(person: Person, asked: Awaited<ReturnType<typeof askedAndKilled>>) {
  const answers = async () =>
    (await person.does('rest', messages.history, { room: asked.room })).messages.filter(
      ({ sender_address }) => sender_address === `agent:${asked.agent}`,
    )
  await expect.poll(answers, { timeout: 30_000, interval: 500 }).toMatchObject([{ reply_to: { id: asked.question } }])
  expect((await answers())[0]?.content).toContain('You wrote')
  // Nobody says it a second time.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  expect(await answers()).toHaveLength(1)
}

describe('a mention whose node is killed with -9 before it begins to answer', () => {
  /** A question in a room; its message stands, and its node dies before anything of an answer is stored. */
  async function askedAndLost(environment: Record<string, string>) {
    const asker = `asker ${crypto.randomUUID()}`
    const before = await start(environment)
    const alice = await personAt(before.url, asker)
    const admin = await personAt(before.url, 'admin')
    const room = await channelOf(alice)
    const { agent } = await admin.does('rest', agents.create, { name: asker.slice(0, 30), visibility: 'official' })
    await admin.does('rest', agents.joinRoom, { id: agent.id, channelType: 'channel', channelId: room.id })
    before.process.kill('SIGTERM')
    await once(before.process, 'exit')
    const dying = await start({ ...environment, FAILPOINT: 'mention-heard' })
    const died = once(dying.process, 'exit')
    const again = await personAt(dying.url, asker)
    const client_msg_id = crypto.randomUUID()
    await again
      .does('rest', messages.send, { room, text: `@[${agent.name}](${agent.id}) what is this?`, client_msg_id })
      .catch(() => undefined)
    expect((await died)[1]).toBe('SIGKILL')
    return { asker, room, client_msg_id, agent: agent.id }
  }

  async function expectAnswered(url: string, { client_msg_id, ...asked }: Awaited<ReturnType<typeof askedAndLost>>) {
    const person = await personAt(url, asked.asker)
    const { messages: said } = await person.does('rest', messages.history, { room: asked.room })
    const question = said.find((message) => message.client_msg_id === client_msg_id)?.id ?? 'The message is lost'
    await expectOneAnswer(person, { ...asked, question })
  }

  test('is answered once by the same node after its restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plaza-mentions-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const asked = await askedAndLost({ DATA_DIR: directory })
    const after = await start({ DATA_DIR: directory })
    onTestFinished(() => void after.process.kill('SIGKILL'))
    await expectAnswered(after.url, asked)
  })

  test('is answered once by another node', async () => {
    const shared = { MONGODB_URI: freshDatabase() }
    const other = await start(shared)
    onTestFinished(() => void other.process.kill('SIGKILL'))
    await expectAnswered(other.url, await askedAndLost(shared))
  })
})

describe('a mention whose node is killed with -9 while it answers', () => {
  test('is answered once by the same node after its restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plaza-mentions-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const asked = await askedAndKilled(await start({ DATA_DIR: directory }))
    const again = await start({ DATA_DIR: directory })
    onTestFinished(() => void again.process.kill('SIGKILL'))
    await expectOneAnswer(await personAt(again.url, asked.asker), asked)
  })

  test('is answered once by another node', async () => {
    const shared = { MONGODB_URI: freshDatabase() }
    const [first, second] = [await start(shared), await start(shared)]
    onTestFinished(() => void second.process.kill('SIGKILL'))
    const asked = await askedAndKilled(first)
    await expectOneAnswer(await personAt(second.url, asked.asker), asked)
  })
})
