// Modes: embedded, two-nodes-redis
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RoomLeases } from '#server/log/model'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, person } from '#test/support/people'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

test('M49: rooms that guests only ask about leave no lease and stay in no memory', heavy, async () => {
  const ids = Array.from({ length: 60 }, () => randomUUID())
  for (const [at, id] of ids.entries()) {
    const path = [`channel/${id}/messages`, `group/${id}/events`, `channel/${id}/events`][at % 3]
    expect((await fetch(`${server.urls[at % server.urls.length]}/api/rooms/${path}`)).status).toBe(404)
  }
  const owner = await person(server, 'owner')
  await channelOf(owner)
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  const leased = await RoomLeases.distinct('room')
  expect(leased.filter((room) => ids.some((id) => room.includes(id)))).toEqual([])
  for (const { node } of server.apps)
    for (const id of ids) for (const type of ['channel', 'group']) expect(node.log.headHere(`${type}:${id}`)).toBeNull()
})
