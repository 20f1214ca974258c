import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isAwaited } from '#server/domains/messages/waiting'
import { call } from '#test/support/wallet'
import { type ChangedServer, openChangedServer } from './changed-server.ts'
import { dial } from './wire.ts'

let server: ChangedServer
let path: string
const logged: object[] = []
beforeEach(async () => {
  logged.length = 0
  const note = (fields: object) => void logged.push(fields)
  server = await openChangedServer({}, (platform) => ({ ...platform, logger: { info: note, warn: note, error: note } }))
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
const waits = () => isAwaited(server.app.node)
async function openStreams() {
  return Number(/^plaza_streams (\d+)$/m.exec(await server.app.node.metrics.text())?.[1])
}
/** A connection that has sent this, with what it was answered so far. */
function sent(bytes: string) {
  const socket = dial(server.url)
  let heard = ''
  socket
    .on('error', () => undefined)
    .on('data', (part) => {
      heard += part
    })
  socket.write(bytes)
  return {
    socket,
    heard: () => heard,
    statuses: () => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code),
  }
}

describe('T79: an answer that waits ends with its client', () => {
  test('a hundred waits that one connection asks for at once end when it closes', async () => {
    const { socket } = sent(line('wait=25').repeat(100))
    await expect.poll(waits).toBe(true)
    await pause(500)
    socket.destroy()
    await expect.poll(waits, { timeout: 3_000 }).toBe(false)
  })

  test('of a hundred follows that one connection asks for at once one is open, until it closes', async () => {
    const { socket, statuses } = sent(line('follow=true').repeat(100))
    await expect.poll(waits).toBe(true)
    await pause(500)
    expect(await openStreams()).toBe(1)
    expect(statuses()).toEqual(['200'])
    socket.destroy()
    await expect.poll(waits, { timeout: 3_000 }).toBe(false)
    expect(await openStreams()).toBe(0)
  })

  test('a follow behind an answer that is not given yet is refused', async () => {
    const { statuses, heard } = sent(line('wait=1') + line('follow=true'))
    await expect.poll(statuses).toEqual(['200', '400'])
    expect(heard()).toContain('VALIDATION_ERROR')
    expect(waits()).toBe(false)
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
        const { socket } = sent(line(query))
        setTimeout(() => socket.resetAndDestroy(), 200)
      }
      await expect.poll(() => looked.mock.calls.length).toBe(10)
      await pause(1_500)
      expect(waits()).toBe(false)
    },
  )

  test('a follow that its client ends has its line in the log, and what was never answered has one without a status', async () => {
    const { socket, statuses } = sent(line('follow=true') + line('wait=25'))
    await expect.poll(statuses).toEqual(['200'])
    await pause(300)
    expect(logged).not.toContainEqual(expect.objectContaining({ status: 200, path: '/api/rooms/alpha/events' }))
    socket.destroy()
    await expect
      .poll(() => logged.filter((fields) => 'path' in fields))
      .toEqual([
        expect.objectContaining({ method: 'GET', path: '/api/rooms/alpha/events', status: 200 }),
        expect.objectContaining({ method: 'GET', path: '/api/rooms/alpha/events', status: null }),
      ])
  })

  test('a follow ends however its connection does', async () => {
    const open = [sent(line('follow=true')), sent(line('follow=true')), sent(line('follow=true'))]
    await expect.poll(openStreams).toBe(3)
    open[0]?.socket.end()
    open[1]?.socket.destroy()
    open[2]?.socket.resetAndDestroy()
    await expect.poll(openStreams, { timeout: 3_000 }).toBe(0)
  })
})
