// Modes: embedded
import { expect, test } from 'vitest'
import { newId } from '#server/kernel/ids'
import { moderation } from '#shared/api/moderation/moderation'
import { friends } from '#shared/api/people/friends'
import { groupInvitations } from '#shared/api/rooms/group-invitations'
import { inbox } from '#shared/api/rooms/inbox'
import { rooms } from '#shared/api/rooms/rooms'
import { bootWith } from '#test/support/boot-with'
import { befriend, channelOf, type Door, over, type Person, people, say } from '#test/support/people'

const { server, owner, reader, other } = await bootWith(['owner', 'reader', 'other'], {
  environment: { BETA: 'open' },
})
const [ann, bob, cy] = await people(server, 'ann', 'bob', 'cy')

/** Each list that goes on by a cursor: what is in it, as ids, and where the next page begins. */
type Read = (
  who: Person,
  door: Door,
  page: { limit: number; cursor?: string },
) => Promise<{ ids: string[]; next: string | null }>
const lists: Record<string, Read> = {
  async rooms(who, door, page) {
    const { rooms: found, next_cursor } = await who.does(door, inbox.list, page)
    return { ids: found.map(({ id }) => id), next: next_cursor ?? null }
  },
  async friends(who, _door, { limit, cursor }) {
    const found = await who.does('rest', friends.list, { limit, before: cursor })
    return { ids: found.friends.map(({ friend_address }) => friend_address), next: found.next }
  },
  async invitations(who, door, { limit, cursor }) {
    const { invitations, next } = await who.does(door, groupInvitations.list, { limit, before: cursor })
    return { ids: invitations.map(({ group_id }) => group_id), next }
  },
}
const refusals: Record<string, (who: Person, door: Door, cursor: string) => Promise<unknown>> = {
  rooms: (who, door, cursor) => who.refused(door, inbox.list, { cursor }),
  friends: (who, _door, cursor) => who.refused('rest', friends.list, { before: cursor }),
  invitations: (who, door, cursor) => who.refused(door, groupInvitations.list, { before: cursor }),
  queue: (who, door, cursor) =>
    door === 'socket'
      ? who.refused(door, moderation.queue, { scope: 'room', room, cursor })
      : who
          .rest(`GET /api/moderation/queue?channelId=${room.id}&cursor=${encodeURIComponent(cursor)}`)
          .then(({ body }) => body),
}
const invalid = (door: Door, list: string) =>
  list === 'queue' && door === 'rest'
    ? { code: 'INVALID_PARAMETER' }
    : { status: 400, code: 'INVALID_PARAMETER', message: 'Invalid cursor' }

const room = await channelOf(reader, other)
for (const friend of [ann, bob, cy]) for (const who of [reader, other]) await befriend(friend, who)
for (const who of [reader, other])
  for (let at = 0; at < 3; at++) {
    await say(who, await channelOf(who), `line ${at}`)
    await owner.does('rest', rooms.createGroup, { name: `${who.account} ${at}`, memberAddresses: [who.account] })
  }

test.each(over)('N88: a list goes on over %s by the cursor of its own page alone', async (door) => {
  const pages = async (who: Person) =>
    Object.fromEntries(
      await Promise.all(Object.entries(lists).map(async ([name, read]) => [name, await read(who, door, { limit: 2 })])),
    ) as Record<string, { ids: string[]; next: string | null }>
  const [mine, theirs] = [await pages(reader), await pages(other)]
  for (const [name, refused] of Object.entries(refusals)) {
    const foreign = Object.entries(mine).flatMap(([list, { next }]) => (list === name ? [] : [next ?? '']))
    const nonsense = ['', 'x', 'zzzz', '2026-01-01T00:00:00.000Z channel:x', 'e30', crypto.randomUUID()]
    // An id of ours is a place in the order of all ids.
    const others = name === 'invitations' ? [] : [newId(), theirs[name]?.next ?? 'none']
    const cursors = [...nonsense, ...foreign, ...others, `${mine[name]?.next}x`]
    for (const cursor of cursors)
      expect([name, cursor, await refused(reader, door, cursor)]).toMatchObject([name, cursor, invalid(door, name)])
  }
  for (const [name, read] of Object.entries(lists)) {
    const { ids, next } = mine[name] ?? { ids: [], next: null }
    expect([name, ids.length, next !== null]).toEqual([name, 2, true])
    const rest = await read(reader, door, { limit: 100, cursor: next ?? '' })
    expect([name, [...ids, ...rest.ids]]).toEqual([name, (await read(reader, door, { limit: 100 })).ids])
  }
})

test.each(over)('N88: a cursor goes on over %s where the row that it ended with is gone since', async (door) => {
  const own = await Promise.all([0, 1, 2].map(() => channelOf(reader)))
  for (const one of own) await say(reader, one, 'here')
  const page = await lists.rooms?.(reader, door, { limit: 2 })
  const all = await lists.rooms?.(reader, door, { limit: 100 })
  const gone = own.find(({ id }) => id === page?.ids[1])
  if (!page?.next || !all || !gone) throw new Error('There is no second page')
  await reader.does('rest', rooms.archive, { room: gone })
  expect((await lists.rooms?.(reader, door, { limit: 100, cursor: page.next }))?.ids).toEqual(all.ids.slice(2))
  const known = await lists.friends?.(ann, door, { limit: 1 })
  await ann.does('rest', friends.removeByAddress, { friendAddress: known?.ids[0] ?? '' })
  expect((await lists.friends?.(ann, door, { limit: 5, cursor: known?.next ?? '' }))?.ids).toHaveLength(1)
  await befriend(ann, known?.ids[0] === reader.account ? reader : other)
})
