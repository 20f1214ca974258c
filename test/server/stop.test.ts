import { expect, onTestFinished, test } from 'vitest'
import { openWire } from '#test/hostile/wire'
import { boot } from '#test/support/boot'
import { listenTo, people, say } from '#test/support/community'

const alpha = { type: 'alpha', id: null } as const

test('P11: a stop ends in its time, though one connection reads nothing and never says goodbye', async () => {
  const server = await boot({ nodes: 1 })
  const [reader, writer] = await people(server, 'reader', 'writer')
  const listening = await listenTo(reader, alpha)
  const silent = await openWire(server.url, '/rooms', { token: reader.token })
  onTestFinished(silent.close)
  await silent.ask('room:join', JSON.stringify({ room: alpha }))
  silent.socket.pause()
  await say(writer, alpha, 'One last word')

  const begun = Date.now()
  await server.close()
  expect(Date.now() - begun).toBeLessThan(20_000)
  expect(listening.events().at(-1)).toMatchObject({ data: { message: { content: 'One last word' } } })
  expect(listening.named('server:notice')).toMatchObject([{ kind: 'draining' }])
})
