// Modes: embedded
import { expect, test } from 'vitest'
import { bootWith } from '#test/support/boot-with'
import { channelOf, say } from '#test/support/people'

const { owner, one, other, innocent } = await bootWith(['owner', 'one', 'other', 'innocent'])

test('O07: a message is stored before pages of history that were asked for earlier', async () => {
  const room = await channelOf(owner, one, other, innocent)
  for (let message = 0; message < 120; message++) await say(owner, room, `${message} ${'words '.repeat(30)}`)
  const readers = await Promise.all(
    [one, other].flatMap((who) => Array.from({ length: 5 }, () => who.socket('/rooms'))),
  )
  const line = await innocent.line()
  let answered = 0
  const reads = readers.flatMap(({ socket }) =>
    Array.from({ length: 25 }, async () => {
      const answer = await socket.timeout(60_000).emitWithAck('room:history', { room, limit: 100 })
      answered++
      expect(answer).toMatchObject({ ok: true, data: { messages: expect.any(Array) } })
    }),
  )
  const answer = await line.socket.timeout(60_000).emitWithAck('message:send', { room, text: 'Among many readers' })
  const answeredBefore = answered
  expect(answer).toMatchObject({ ok: true })
  await Promise.all(reads)
  expect(answeredBefore).toBeLessThan(reads.length / 2)
})
