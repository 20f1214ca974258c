// Modes: embedded, two-nodes
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { addHeadReceiver } from '#server/domains/rooms/messages/live'
import type { Connection, Node } from '#server/kernel/context'
import { messages } from '#shared/api/rooms/messages'
import { heads } from '#shared/api/rooms/rooms'
import { roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import type { Line } from '#test/support/line'
import { channelOf, type Person, person } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  server = await boot()
  owner = await person(server, 'owner')
  member = await person(server, 'member')
})
afterAll(async () => {
  await server.close()
  vi.useRealTimers()
})

test('every 25 seconds a connection is told the heads of the rooms it listens to, and of no others', async () => {
  const heard = await channelOf(owner, member)
  const unheard = await channelOf(owner, member)
  const line = await member.line()
  await member.does('socket', messages.join, { room: heard })
  const { message } = await owner.does('socket', messages.send, { room: heard, text: 'the head' })
  await owner.does('socket', messages.send, { room: unheard, text: 'elsewhere' })
  await line.follows(heard, ({ seq }) => seq === message.seq)

  vi.advanceTimersByTime(25_000)
  await line.hears(heads.name)
  expect(line.all(heads)).toEqual([{ heads: { [roomKey(heard)]: message.seq } }])
  vi.advanceTimersByTime(25_000)
  await expect.poll(() => line.all(heads)).toHaveLength(2)
})

test('connections are told one after the other, not all at one moment', heavy, async () => {
  const room = await channelOf(owner)
  const [{ node } = {}] = server.apps
  const lines: Line[] = []
  while (lines.length < 20) lines.push(await (await person(server, 'owner', server.url)).line())
  for (const { socket } of lines) await socket.emitWithAck('room:join', { room })
  const told = () => lines.reduce((sum, line) => sum + line.all(heads).length, 0)
  const steps: number[] = []
  for (let step = 0; step < 10; step++) {
    const before = told()
    vi.advanceTimersByTime(2_500)
    await node?.log.head(roomKey(room))
    await new Promise((resolve) => setTimeout(resolve, 100))
    steps.push(told() - before)
  }
  expect(told()).toBe(20)
  expect(Math.max(...steps)).toBeLessThan(20)
})

test('who is gone, or listens to nothing, is told nothing; a room that cannot be read ends nothing', async () => {
  const { node } = server.apps[0] as { node: Node }
  const room = await channelOf(owner)
  const told: string[] = []
  const closing = new Map<string, () => void>()
  const listening = (name: string, keys: readonly string[]) =>
    addHeadReceiver(node, {
      memory: new Map([['rooms', new Map(keys.map((key) => [key, () => {}]))]]),
      emit: () => void told.push(name),
      onClose: (close: () => void) => void closing.set(name, close),
    } as unknown as Connection)
  listening('there', [roomKey(room)])
  listening('gone', [roomKey(room)])
  listening('nowhere', [])
  listening('unreadable', ['unreadable'])
  const head = vi.spyOn(node.log, 'head').mockImplementation(async (key) => {
    if (key === 'unreadable') throw new Error('The store does not answer.')
    return { seq: 1 } as never
  })
  closing.get('gone')?.()
  vi.advanceTimersByTime(25_000)
  await expect.poll(() => told).toEqual(['there'])
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(told).toEqual(['there'])
  head.mockRestore()
  for (const close of closing.values()) close()
})
