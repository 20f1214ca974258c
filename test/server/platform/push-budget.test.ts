// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakePush } from '#server/ports/push/fake'
import { push as contract } from '#shared/api/platform/push'
import { messages } from '#shared/api/rooms/messages'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { befriend, groupOf, type Person, person, sealed } from '#test/support/people'
import { pushBrowser } from '#test/support/push-browser'

const push = fakePush()
const scale = 1_000
/** In an hour six notices of a kind, and two of a conversation: a tenth of what is usual. */
const [most, tenth] = [6, 10]
let server: Booted
beforeAll(async () => {
  server = await boot({
    services: { push },
    environment: { RATE_LIMIT_SCALE: String(scale) },
    change: ({ kv, ...platform }) => ({
      ...platform,
      kv: {
        ...kv,
        slide: (key, limit, ...rest) =>
          kv.slide(key, key.startsWith('guard:notices-') ? limit / scale / tenth : limit, ...rest),
      },
    }),
  })
})
afterAll(() => server.close())

let made = 0
const somebody = () => person(server, `pushing within budgets ${++made}`)
/** Has a new browser of somebody told; what it is told, by the rooms it is of. */
async function subscribes(who: Person): Promise<() => string[]> {
  const { asJson, subscription } = pushBrowser(`https://push.test/${++made}`)
  await who.does('rest', contract.subscribe, { subscription: asJson })
  return () =>
    push.sent
      .filter(({ endpoint }) => endpoint === subscription.endpoint)
      .map(({ message }) => (JSON.parse(message.text) as { tag: string }).tag)
}
const writes = (from: Person, room: RoomRef, text = sealed()) => from.does('rest', messages.send, { room, text })

test('T63: strangers are told of so often in an hour, and take nothing from friends', async () => {
  const [who, friend] = [await somebody(), await somebody()]
  await befriend(who, friend)
  const told = await subscribes(who)
  for (let stranger = 0; stranger <= most; stranger++) {
    const from = await somebody()
    await writes(from, dmOf(from.account, who.account))
  }
  await expect.poll(() => told().length).toBe(most)
  const room = dmOf(friend.account, who.account)
  await writes(friend, room)
  await expect.poll(told).toContain(roomKey(room))
  expect(told()).toHaveLength(most + 1)
})

test('T63: a friend is told of, whatever a stranger says in the same room and moment', async () => {
  const [who, friend, stranger] = [await somebody(), await somebody(), await somebody()]
  await befriend(who, friend)
  const room = await groupOf(friend, who, stranger)
  const told = await subscribes(who)
  for (const times of [1, 2]) {
    await writes(stranger, room, 'Hello')
    await expect.poll(() => told().length).toBe(times)
  }
  await writes(friend, room, 'Dinner at eight')
  await writes(stranger, room, 'Hello')
  await expect.poll(() => told().length).toBe(3)
})
