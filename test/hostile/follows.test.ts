// Modes: embedded
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hasWaits } from '#server/domains/rooms/messages/live'
import { budgets } from '#server/kernel/limits/budgets'
import { channelOf, personAt } from '#test/support/people'
import { sent } from '#test/support/raw-connection'
import { call } from '#test/support/wallet'
import { type ChangedServer, openChangedServer } from './changed-server.ts'
import { openWire } from './wire.ts'

let server: ChangedServer
let path: string
const logged: object[] = []
beforeEach(async () => {
  logged.length = 0
  const note = (fields: object) => void logged.push(fields)
  server = await openChangedServer({ RATE_LIMIT_SCALE: '1' }, (platform) => ({
    ...platform,
    logger: { info: note, warn: note, error: note },
  }))
  const { body } = await call(server.url, 'GET /api/rooms/alpha/events?after_seq=0')
  path = `/api/rooms/alpha/events?after_seq=${body.head_seq}`
  await expect.poll(() => logged.splice(0).length).toBe(1)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server.close()
})

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const line = (query: string, method = 'GET') => `${method} ${path}&${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const waits = () => hasWaits(server.app.node)
async function openStreams() {
  return Number(/^plaza_streams (\d+)$/m.exec(await server.app.node.metrics.text())?.[1])
}

describe('T79: an answer that waits ends with its client', () => {
  test('a hundred waits that one connection asks for at once end when it closes', async () => {
    const { socket } = sent(server.url, line('wait=25').repeat(100))
    await expect.poll(waits).toBe(true)
    await pause(500)
    socket.destroy()
    await expect.poll(waits, { timeout: 3_000 }).toBe(false)
  })

  test('of a hundred follows that one connection asks for at once one is open, until it closes', async () => {
    const { socket, statuses } = sent(server.url, line('follow=true').repeat(100))
    await expect.poll(waits).toBe(true)
    await pause(500)
    expect(await openStreams()).toBe(1)
    expect(statuses()).toEqual([200])
    socket.destroy()
    await expect.poll(waits, { timeout: 3_000 }).toBe(false)
    expect(await openStreams()).toBe(0)
  })

  test('O05: a follow behind an answer that is not given yet begins after it', async () => {
    const { statuses, socket } = sent(server.url, line('wait=1') + line('follow=true'))
    await expect.poll(waits).toBe(true)
    await pause(300)
    expect([statuses(), await openStreams()]).toEqual([[], 0])
    await expect.poll(statuses).toEqual([200, 200])
    await expect.poll(openStreams).toBe(1)
    socket.destroy()
    await expect.poll(openStreams).toBe(0)
  })

  test.each(['follow=true', 'wait=25'])(
    'a client that goes while it is looked up leaves nothing of %s',
    async (query) => {
      const { limits } = server.app.node
      const throttle = limits.throttle.bind(limits)
      const looked = vi.spyOn(limits, 'throttle').mockImplementation(async (...given) => {
        await pause(400)
        return throttle(...given)
      })
      for (let one = 0; one < 10; one++) {
        const { socket } = sent(server.url, line(query))
        setTimeout(() => socket.resetAndDestroy(), 200)
      }
      await expect.poll(() => looked.mock.calls.length).toBe(10)
      await pause(1_500)
      expect(waits()).toBe(false)
    },
  )

  test('a follow that its client ends has its line in the log, and what was never answered has one without a status', async () => {
    const [followed, waited] = [sent(server.url, line('follow=true')), sent(server.url, line('wait=25'))]
    await expect.poll(followed.statuses).toEqual([200])
    await pause(300)
    expect(logged).not.toContainEqual(expect.objectContaining({ status: 200, path: '/api/rooms/alpha/events' }))
    for (const { socket } of [followed, waited]) socket.destroy()
    const lines = () => logged.filter((fields) => 'path' in fields) as { path: string; status: number | null }[]
    await expect
      .poll(() =>
        lines()
          .map(({ status }) => status)
          .sort(),
      )
      .toEqual([200, null])
    expect(new Set(lines().map((one) => one.path))).toEqual(new Set(['/api/rooms/alpha/events']))
  })

  test('a follow ends however its connection does', async () => {
    const open = [
      sent(server.url, line('follow=true')),
      sent(server.url, line('follow=true')),
      sent(server.url, line('follow=true')),
    ]
    await expect.poll(openStreams).toBe(3)
    open[0]?.socket.end()
    open[1]?.socket.destroy()
    open[2]?.socket.resetAndDestroy()
    await expect.poll(openStreams, { timeout: 3_000 }).toBe(0)
  })

  test('a HEAD of a follow has its answer at once, and begins none', async () => {
    const { heard, socket } = sent(server.url, line('follow=true', 'HEAD'))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await expect.poll(heard).toContain('application/x-ndjson')
    await closed
    expect([waits(), await openStreams()]).toEqual([false, 0])
  })
})

describe('T79: a sequence over a socket', () => {
  const room = JSON.stringify({ room: { type: 'alpha' } })
  const { most } = budgets.answersOfConnection
  async function wire() {
    const { token } = await personAt(server.url, 'follower')
    return openWire(server.url, '/rooms', { token })
  }

  test('ends with its connection', async () => {
    const { ask, close } = await wire()
    for (let one = 0; one < 3; one++) expect((await ask('room:follow', room))?.ok).toBe(true)
    await expect.poll(openStreams).toBe(3)
    close()
    await expect.poll(openStreams, { timeout: 3_000 }).toBe(0)
    await expect.poll(waits, { timeout: 3_000 }).toBe(false)
  })

  test('that is refused takes no place', async () => {
    const { askInTime, close } = await wire()
    const nowhere = JSON.stringify({ room: { type: 'channel', id: '018f0000-0000-7000-8000-000000000000' } })
    for (let one = 0; one <= most; one++)
      expect((await askInTime('room:follow', nowhere))?.error).toMatchObject({ code: 'ROOM_NOT_FOUND' })
    for (let one = 0; one < most; one++) expect((await askInTime('room:follow', room))?.ok).toBe(true)
    expect((await askInTime('room:follow', room))?.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    close()
  })

  test('that has ended takes no place', async () => {
    const { askInTime, heard, close } = await wire()
    const owner = await personAt(server.url, 'owner of rooms')
    const id = (await channelOf(owner)).id
    const short = JSON.stringify({ room: { type: 'channel', id } })
    for (let one = 0; one < most; one++) expect((await askInTime('room:follow', short))?.ok).toBe(true)
    const follower = await personAt(server.url, 'follower')
    const banned = await owner.rest('POST /api/moderation/act', {
      room: { type: 'channel', id },
      action: 'ban',
      target: follower.account,
    })
    expect(banned.status).toBe(200)
    await expect.poll(() => heard.filter((frame) => frame.includes('stream:end')).length).toBe(most)
    for (let one = 0; one < most; one++) expect((await askInTime('room:follow', room))?.ok).toBe(true)
    close()
  })

  test('that nobody can name, as no ack was asked for, is not begun', async () => {
    const { ask, send, close } = await wire()
    send(`42/rooms,["room:follow",${room}]`)
    expect((await ask('room:list', '{}'))?.ok).toBe(true)
    await pause(500)
    expect([waits(), await openStreams()]).toEqual([false, 0])
    close()
  })
})
