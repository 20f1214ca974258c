import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { forgetProfile, profilesOf } from '#server/domains/people/accounts/profiles'
import { Sessions } from '#server/domains/people/identity/model'
import type { Node } from '#server/kernel/context'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { person } from '#test/support/people'

const minute = 60_000

let server: Booted
let one: Node
let other: Node
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  server = await boot({ nodes: 2 })
  const [first, second] = server.apps
  if (!first || !second) throw new Error('There are two')
  one = first.node
  other = second.node
})
afterAll(async () => {
  vi.useRealTimers()
  await server.close()
})

test('each of two nodes in one process has its own profiles', async () => {
  const { account } = await person(server, 'renamed')
  const nameOn = async (node: Node) => (await profilesOf(node, [account])).get(account)?.name
  const before = await nameOn(one)
  expect(await nameOn(other)).toBe(before)
  await Accounts.updateOne({ _id: account }, { $set: { display_name: 'New name' } })
  forgetProfile(one, account)
  expect(await nameOn(one)).toBe('New name')
  expect(await nameOn(other)).toBe(before)
})

test('each of two nodes in one process has its own metrics', async () => {
  const caller = await person(server, 'counted')
  await caller.does('rest', rooms.list, {})
  const [asked, idle] = server.urls.indexOf(caller.url) === 0 ? [one, other] : [other, one]
  const counted = async ({ metrics }: Node) => /operation="rooms.list"/.test(await metrics.text())
  expect([await counted(asked), await counted(idle)]).toEqual([true, false])
  one.metrics.degraded('redis', true)
  expect([one.metrics.degradedParts(), other.metrics.degradedParts()]).toEqual([['redis'], []])
  one.metrics.degraded('redis', false)
})

test('each of two nodes in one process checks once a minute whether sessions are still valid', async () => {
  const people = [await person(server, 'swept'), await person(server, 'swept too')]
  const sockets = await Promise.all(people.map((each) => each.socket('/rooms')))
  expect(new Set(people.map(({ url }) => url)).size).toBe(2)
  await Sessions.deleteMany({ user_address: { $in: people.map(({ account }) => account) } })
  await vi.advanceTimersByTimeAsync(minute)
  for (const { socket } of sockets) await expect.poll(() => socket.connected).toBe(false)
})
