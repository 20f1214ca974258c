// Modes: embedded
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { boot } from '#test/support/boot'
import { channelOf, person } from '#test/support/people'

const longest = 10_000

test('M11, T69: searches over long messages do not hold the server, and lead to the end of the log', async () => {
  const server = await boot()
  try {
    const owner = await person(server, 'owner')
    const room = await channelOf(owner)
    await owner.does('socket', messages.send, { room, text: 'the needle' })
    const hay = 'ſtraße ёлка ａｂｃ '.repeat(700).slice(0, longest)
    for (let at = 0; at < 70; at += 1) await owner.does('socket', messages.send, { room, text: hay })
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const searches = Array.from({ length: 20 }, async () => {
      const found = []
      let before_seq: number | undefined
      do {
        const page = await owner.does('rest', messages.search, { room, query: 'needle', before_seq })
        found.push(...page.messages)
        expect(page.has_more).toBe(page.next_before_seq !== null)
        before_seq = page.next_before_seq ?? undefined
      } while (before_seq !== undefined)
      return found.length
    })
    expect(await Promise.all(searches)).toEqual(Array(20).fill(1))
    delay.disable()
    // Ten times the 50 ms that a search may take of the loop.
    expect(delay.percentile(99) / 1e6).toBeLessThan(500)
  } finally {
    await server.close()
  }
}, 180_000)

test('M11, T69: searches have a bucket of their own: the 31st in a minute is refused, other reads are not', async () => {
  const server = await boot({ environment: { RATE_LIMIT_SCALE: '1' } })
  try {
    const owner = await person(server, 'owner')
    const room = await channelOf(owner)
    const search = () => owner.rest(`GET /api/rooms/channel/${room.id}/search?query=anything`)
    const statuses = []
    for (let at = 0; at < 31; at += 1) statuses.push((await search()).status)
    expect(statuses).toEqual([...Array(30).fill(200), 429])
    expect((await owner.rest(`GET /api/rooms/channel/${room.id}/messages`)).status).toBe(200)
  } finally {
    await server.close()
  }
})
