// Modes: embedded
import { expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { finishRooms } from '#server/domains/rooms/rooms/founding'
import type { Node } from '#server/kernel/context'
import { accounts } from '#shared/api/people/accounts'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import type { Person } from '#test/support/people'
import { call } from '#test/support/wallet'

const { server, admin, founder, late } = await bootWith(['admin', 'founder', 'late'], {
  nodes: 1,
  admins: ['admin'],
})

function nodeOf(): Node {
  const node = server.apps[0]?.node
  if (!node) throw new Error('No node')
  return node
}

/** The record of a room whose founding ended with a process. */
async function unfinished(by: Person, name: string): Promise<string> {
  const id = crypto.randomUUID()
  const at = new Date(Date.now() - 3_600_000).toISOString()
  const fields = { type: 'channel', id, name, emoji: '💬', category: 'general', founding: { members: [] } }
  const whose = { creator_address: by.account, owner_address: by.account, created_at: at, updated_at: at }
  await Rooms.create({ _id: `channel:${id}`, ...fields, ...whose })
  return id
}
const suspend = (who: Person, ban: boolean) => admin.does('rest', accounts.suspend, { userAddress: who.account, ban })
const isUnfinished = async (id: string) =>
  (await Rooms.countDocuments({ _id: `channel:${id}`, founding: { $exists: true } })) === 1

test('S5: a founding whose founder was suspended meanwhile is archived, and tried no more', async () => {
  const id = await unfinished(founder, 'Never founded')
  await suspend(founder, true)
  const node = nodeOf()
  await finishRooms(node)
  expect(await isUnfinished(id)).toBe(false)
  expect((await call(server.url, `GET /api/channels/${id}`)).body.channel).toMatchObject({
    is_active: false,
    member_count: 0,
  })
  expect((await late.rest(`POST /api/channels/${id}/join`)).code).toBe('ROOM_ARCHIVED')
  await suspend(founder, false)
  await finishRooms(node)
  expect((await founder.rest(`GET /api/channels/${id}`)).body.channel).toMatchObject({ is_active: false })
})

test('S5: a hundred foundings that fail do not keep another from being finished', {
  ...heavy,
  timeout: 60_000,
}, async () => {
  const failing = new Set<string>()
  for (let at = 0; at < 100; at++) failing.add(`channel:${await unfinished(late, `Stuck ${at}`)}`)
  const id = await unfinished(founder, 'Behind them')
  const node = nodeOf()
  const act: Node['log']['act'] = (room, how) =>
    failing.has(room) ? Promise.reject(new Error('the store is away')) : node.log.act(room, how)
  await finishRooms({ ...node, log: { ...node.log, act } })
  expect(await isUnfinished(id)).toBe(false)
  expect((await founder.rest(`GET /api/channels/${id}`)).body.channel).toMatchObject({ member_count: 1 })
  const [first] = failing
  expect(await isUnfinished(String(first).slice('channel:'.length))).toBe(true)
  await finishRooms(node)
  expect(await isUnfinished(String(first).slice('channel:'.length))).toBe(false)
})
