// Modes: embedded
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { caretaker, people } from '#server/demo/agents'
import { startDemo } from '#server/demo/demo'
import { readLine } from '#server/demo/script'
import { stages } from '#server/demo/stage'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { agents } from '#shared/api/agents/agents'
import { moderation } from '#shared/api/moderation/moderation'
import { status } from '#shared/api/people/status'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { alpha, person } from '#test/support/people'

let server: Booted
beforeAll(async () => {
  server = await boot({ entry: 'in alpha', nodes: 1, environment: { DEMO: 'on' } })
})
afterAll(() => server.close())

const node = () => server.apps[0]?.node ?? Promise.reject(new Error('No node'))
const getJson = async (path: string) => (await fetch(`${server.url}${path}`)).json()
const never = () => 3_600_000

test('every line of the script can be spoken', () => {
  const lines = stages.flatMap(({ dialogues }) => dialogues.flat())
  for (const line of lines) {
    const { role, text, corrected } = readLine(line)
    expect(role).toBeGreaterThanOrEqual(0)
    expect(`${text} ${corrected ?? ''}`).toMatch(/^[^{}~^|]+$/)
  }
  expect(new Set(lines).size).toBe(lines.length)
})

test('M67: who comes in while the rooms are still filled finds all of them', async () => {
  const starting = startDemo(await node(), never)
  const guest = await person(server, 'early')
  const listed = async () => (await guest.does('rest', inbox.list, {})).rooms.length
  await expect.poll(listed, { timeout: 20_000 }).toBe(stages.length)
  ;(await starting).stop()
})

test('the rooms have a past, and a second start repeats none of it', async () => {
  const first = await startDemo(await node(), never)
  first.stop()
  const heads = () => Promise.all(stages.map(async ({ room }) => (await (await node()).log.head(roomKey(room))).seq))
  const before = await heads()
  const second = await startDemo(await node(), never)
  second.stop()
  expect(await heads()).toEqual(before)
  expect(Math.min(...before)).toBeGreaterThan(15)

  const { channels } = await getJson('/api/channels')
  expect(channels.map(({ name }: { name: string }) => name).sort()).toEqual([
    'Ask anything',
    'Attendance: Founders Dinner 2026',
    'No links please',
    'Show and tell',
    'Slow lane',
  ])
  for (const channel of channels.filter(({ gate }: { gate: object | null }) => gate === null))
    expect(channel).toMatchObject({ is_official: true, creator_address: null, member_count: people.length + 1 })
})

test('N75: a start that the store is too busy for goes on when it is not', async () => {
  const busy = vi.spyOn(Rooms, 'updateOne').mockImplementationOnce(() => {
    throw Object.assign(new Error('The write was not stored'), { code: 'ENOSPC' })
  })
  const demo = await startDemo(await node(), never).finally(() => busy.mockRestore())
  demo.stop()
})

test('what is seeded shows what rooms can do', async () => {
  const { messages } = await getJson('/api/alpha/messages')
  const some = (has: (message: Record<string, unknown>) => unknown) => expect(messages.some(has)).toBe(true)
  some(({ is_pinned }) => is_pinned)
  some(({ is_edited }) => is_edited)
  some(({ reply_to_id }) => reply_to_id)
  some(({ reactions }) => Object.keys(reactions as object).length > 0)
  some(({ message_type }) => message_type === 'poll')
  expect(messages.every(({ sender_address }: { sender_address: string }) => people.includes(sender_address))).toBe(true)
  const { channels } = await getJson('/api/channels')
  const rulesOf = (id: string) => getJson(`/api/chat-rules?chatType=channel&chatId=${id}`)
  const idOf = (name: string) => channels.find((one: { name: string }) => one.name === name).id
  expect(JSON.stringify(await rulesOf(idOf('Slow lane')))).toContain('"slow_mode_seconds":10')
  expect(JSON.stringify(await rulesOf(idOf('No links please')))).toContain('"links_allowed":"disabled"')
  const flagged = stages.find((stage) => stage.flagged)?.room
  const { queue } = await (await node()).callAs(caretaker, moderation.queue, { scope: 'room', room: flagged })
  expect(queue).toMatchObject([{ kind: 'flag', state: 'pending', reported_address: 'demo:sam' }])
})

test('two official agents are there: one knows the documentation, one keeps the lobby company', heavy, async () => {
  const demo = await startDemo(await node(), never)
  const visitor = await person(server, 'curious')
  const { agents: found } = await visitor.does('rest', agents.discover, { filter: 'official' })
  expect(found.map(({ name }) => name).sort()).toEqual(['Pip', 'Plaza Guide'])
  const [company, guide] = found.toSorted((one, other) => one.name.localeCompare(other.name))
  const ask = (message: string) => visitor.does('rest', agents.chat, { id: guide?.id ?? '', message })
  await expect
    .poll(() => ask('What is lost when the connection is lost?').then((answer) => answer.message), {
      timeout: 30_000,
      interval: 1_000,
    })
    .toMatch(/\[\d\]/)
  const { chats } = await visitor.does('rest', agents.history, { id: guide?.id ?? '' })
  const [source] = chats.at(-1)?.citations ?? []
  expect(source?.url).toMatch(/\/docs\/\w+\.md$/)
  const document = await fetch(new URL(new URL(source?.url ?? '').pathname, server.url))
  expect(document.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await document.text()).toContain('# ')

  const mention = `@[Pip](${company?.id}) where do swifts sleep?`
  const { message } = await visitor.does('rest', messages.send, { room: alpha, text: mention })
  const answers = async () => (await visitor.does('rest', messages.history, { room: alpha })).messages
  await expect
    .poll(async () => (await answers()).find(({ reply_to_id }) => reply_to_id === message.id)?.content)
    .toContain('one half of the brain')
  demo.stop()
})

test('it goes on living, and stops when told', async () => {
  const seqs = async () => {
    const heads = await Promise.all(stages.map(async ({ room }) => (await node()).log.head(roomKey(room))))
    return heads.reduce((sum, { seq }) => sum + seq, 0)
  }
  const before = await seqs()
  const demo = await startDemo(await node(), () => 1)
  await expect.poll(seqs, { timeout: 15_000 }).toBeGreaterThan(before)
  demo.stop()
})

test('everybody may become a moderator of the rooms of the demo, by asking', async () => {
  const visitor = await person(server, 'visitor')
  const mine = { action: 'permissions', userAddress: visitor.account, channelId: String(stages[1]?.room.id) } as const
  expect(await visitor.does('rest', status.get, {})).toMatchObject({ demo: true })
  expect(await visitor.does('rest', moderation.inspect, mine)).toMatchObject({ permissions: { isModerator: false } })
  await visitor.does('rest', status.becomeModerator, {})
  expect(await visitor.does('rest', moderation.inspect, mine)).toMatchObject({ permissions: { isModerator: true } })
})
