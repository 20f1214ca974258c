// Modes: embedded
import { beforeAll, expect, test } from 'vitest'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { appointMissingManagers } from '#server/domains/rooms/room-state/succession'
import { updateSearchTerms } from '#server/domains/rooms/rooms/rooms'
import type { MemberRole } from '#shared/api/rooms/room'
import { rooms } from '#shared/api/rooms/rooms'
import { skeletonVersion } from '#shared/kit/looks'
import { bootWith } from '#test/support/boot-with'
import { channelOf } from '#test/support/people'
import { readsOf } from '#test/support/store-reads'
import { times } from '#test/support/times'

const { server, owner } = await bootWith(['owner'])
const node = server.apps[0]?.node

const many = 1_200
/** Other work of the server meanwhile, and what says who asks. */
const others = 100
const key = (at: number) => `channel:start-${at}`
let id: string

const memberRow = (room: string, user_address: string, role: MemberRole) => ({
  ...{ _id: `${room}|member:${user_address}`, room, user_address, role, joined_at: '2026-01-01T00:00:00.000Z' },
  ...{ is_active: true, applied_seq: 1 },
})

beforeAll(async () => {
  id = (await channelOf(owner)).id
  const { slug: _, ...template } = (await Rooms.findOne({ _id: `channel:${id}` }).lean()) ?? {}
  const named = (at: number) => ({
    _id: key(at),
    id: key(at).slice(8),
    name: `Start ${at}`,
    unique_name: `start ${at}`,
  })
  await Rooms.insertMany(times(many, (at) => ({ ...template, ...named(at) })))
  await Members.insertMany(times(many, (at) => memberRow(key(at), owner.account, 'owner')))
  await Members.insertMany(times(many, (at) => memberRow(`channel:${id}`, `guest-${at}`, 'member')))
}, 60_000)

test('a start reads each room and its manager once, and none for the terms of the search', async () => {
  if (!node) throw new Error('No node')
  expect(await readsOf(() => appointMissingManagers(node))).toBeLessThan(2 * many + others)
  expect(await readsOf(updateSearchTerms)).toBeLessThan(others)
})

test('a start updates the terms of each other version', async () => {
  for (const version of [null, skeletonVersion - 1, skeletonVersion + 1]) {
    await Rooms.updateOne({ _id: key(7) }, { $set: { terms: ['other'] } })
    const change = version === null ? { $unset: { skeleton_version: '' } } : { $set: { skeleton_version: version } }
    await Rooms.updateOne({ _id: key(7) }, change)
    await updateSearchTerms()
    expect(await Rooms.findOne({ _id: key(7) }).lean()).toMatchObject({
      terms: ['sta', '7'],
      skeleton_version: skeletonVersion,
    })
  }
})

test('a page of members reads no others, and their number none', async () => {
  const room = { type: 'channel', id } as const
  const page = () => owner.does('rest', rooms.members, { room, limit: 20, offset: 40 })
  expect(await page()).toMatchObject({ total: many + 1, hasMore: true })
  expect(await readsOf(page)).toBeLessThan(60 + others)
})
