// Modes: embedded
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { runsHere } from '#server/domains/agents/runs/relay'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { serverNotice } from '#shared/kit/connection'
import { openWire } from '#test/hostile/wire'
import { boot } from '#test/support/boot'
import { alpha, channelOf, listenTo, people, person, say } from '#test/support/people'
import { dial } from '#test/support/raw-connection'
import { beginWork } from '#test/support/runs'
import { following } from '#test/support/sequence'

test('P11: a stop ends in its time, though one connection reads nothing and never says goodbye, and lets nobody in', async () => {
  const server = await boot({ entry: 'in alpha', nodes: 1 })
  const [reader, writer] = await people(server, 'reader', 'writer')
  const listening = await listenTo(reader, alpha)
  const silent = await openWire(server.url, '/rooms', { token: reader.token })
  onTestFinished(silent.close)
  await silent.ask('room:join', JSON.stringify({ room: alpha }))
  silent.socket.pause()
  await say(writer, alpha, 'One last word')

  const late = dial(server.url)
  onTestFinished(() => void late.destroy())
  const refused = once(late, 'data')
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  late.write(`GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\n${upgrade}`)
  await setTimeout(100)

  const begun = Date.now()
  const closed = server.close()
  late.write('\r\n')
  expect(String(await refused)).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 1\r\n/s)
  await closed
  expect(Date.now() - begun).toBeLessThan(20_000)
  expect(listening.log(alpha).at(-1)).toMatchObject({ data: { message: { content: 'One last word' } } })
  expect(listening.all(serverNotice)).toMatchObject([{ kind: 'draining' }])
})

test('P11: a stop waits neither for a connection that sends nothing, nor for one whose answer was the last', async () => {
  const server = await boot({ entry: 'in alpha', nodes: 1 })
  const who = await person(server, 'writer')
  const unused = dial(server.url)
  onTestFinished(() => void unused.destroy())
  await once(unused, 'connect')
  const used = dial(server.url)
  onTestFinished(() => void used.destroy())
  const answered = once(used, 'data')
  // Its answer comes after the stop has begun.
  used.write(
    `POST /api/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${who.token}\r\nContent-Length: 2\r\n\r\n`,
  )
  await setTimeout(100)
  const begun = Date.now()
  const closed = server.close()
  used.write('{}')
  expect(String(await answered)).toMatch(/^HTTP\/1\.1 \d/)
  await closed
  expect(Date.now() - begun).toBeLessThan(5_000)
})

test('P11: a stop ends each room that is followed over REST, which says so, and waits for none', async () => {
  const server = await boot({ entry: 'in alpha', nodes: 1 })
  const who = await person(server, 'follower')
  const followed = await following<RoomEvent>('rest', who, { room: await channelOf(who) })
  const begun = Date.now()
  await server.close()
  expect(Date.now() - begun).toBeLessThan(8_000)
  expect(await followed.end).toBe('SERVICE_UNAVAILABLE')
})

test('P21: a stop ends each answer with what was written of it, and says so', async () => {
  const server = await boot({ entry: 'in alpha', nodes: 1 })
  const [app] = server.apps
  if (!app) throw new Error('There is a server')
  const asked = { agent: 'any', account: 'somebody', place: 'chat', message: 'Hi' }
  const run = await beginWork(app.node, asked, (_run, tell, signal) => {
    tell({ t: 'chunk', off: 0, text: 'Half' })
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const log = runsHere(app.node).get(run._id)
  await expect.poll(() => log?.frames.length).toBe(1)
  await server.close()
  expect(log?.frames.at(-1)).toMatchObject({ t: 'error', code: 'RUN_LOST', partial_message_id: run.message_id })
})
