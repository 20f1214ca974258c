// Modes: embedded, two-nodes-redis
import { expect, test } from 'vitest'
import { social } from '#shared/api/moderation/social'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { madeUpName } from '#shared/kit/person-name'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, say } from '#test/support/people'
import { solo } from '#test/support/solo'

const { owner, member } = await bootWith(['owner', 'member'])

const patience = { timeout: 10_000 }
const listOf = (who: Person, known?: string) =>
  who.rest('GET /api/user/rooms', null, known === undefined ? {} : { 'if-none-match': known })
/** The list as it is once records are written, and what it is known by. */
async function settled(who: Person): Promise<string> {
  let tag = ''
  await expect
    .poll(async () => {
      const before = tag
      tag = (await listOf(who)).headers.get('etag') ?? ''
      return tag !== '' && tag === before
    }, patience)
    .toBe(true)
  return tag
}

test(
  'N73: a list that is as the caller knows it is answered by 304, and after each change of it anew',
  heavy,
  async () => {
    const room = await channelOf(owner, member)
    const message = await say(owner, room, 'Hello')
    const changes: [what: string, change: (room: RoomRef & { id: string }) => Promise<unknown>][] = [
      ['a message', () => say(owner, room, 'Another')],
      ['a mark', () => member.does('rest', messages.read, { room, seq: message.seq })],
      ['an edit', () => owner.does('rest', messages.edit, { room, id: message.id, text: 'Edited' })],
      ['a name', () => owner.does('rest', rooms.update, { room, name: `Renamed ${process.pid}` })],
      [
        'a mute',
        () =>
          member.does('rest', social.mute, {
            conversationType: 'channel',
            conversationId: room.id,
            duration: 'forever',
          }),
      ],
      ['a room', () => channelOf(owner, member)],
      ['a room less', () => member.does('rest', rooms.leave, { room })],
    ]
    for (const [what, change] of changes) {
      let known = ''
      // What is written behind an answer may still change the list once it seems to be settled.
      const isKnown = async () => {
        known = await settled(member)
        const same = await listOf(member, known)
        return [what, same.status, same.headers.get('etag') === known]
      }
      await expect.poll(isKnown, patience).toEqual([what, 304, true])
      await change(room)
      await expect.poll(async () => [what, (await listOf(member, known)).status], patience).toEqual([what, 200])
    }
    const known = await settled(member)
    expect(await member.does('socket', inbox.list, { known })).toEqual({ rooms: [], version: known, unchanged: true })
    const bare = known.slice(1, -1)
    for (const tags of [bare, `"other", W/${known}`, `other,${known}`])
      for (const door of ['socket', 'rest'] as const)
        if (door === 'socket')
          expect(await member.does(door, inbox.list, { known: tags })).toMatchObject({ unchanged: true })
        else expect((await listOf(member, tags)).status).toBe(304)
    expect((await member.does('rest', inbox.list, { known: bare })).unchanged).toBe(true)
    expect((await listOf(member, `"${bare.slice(1)}"`)).status).toBe(200)
    expect(await member.does('socket', inbox.list, { known: '' })).toMatchObject({
      version: known,
      rooms: expect.any(Array),
    })
  },
)

solo('N73: a list is read in pages without loss or repeat, and whole by who asks for no page', async () => {
  for (let at = 0; at < 5; at++) await say(owner, await channelOf(owner), `line ${at}`)
  const whole = await owner.does('rest', inbox.list, {})
  expect(Object.keys(whole)).toEqual(['rooms'])
  for (const door of ['rest', 'socket'] as const) {
    const ids: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await owner.does(door, inbox.list, { limit: 2, ...(cursor ? { cursor } : {}) })
      expect(page.rooms.length).toBeLessThanOrEqual(2)
      ids.push(...page.rooms.map(({ id }) => id))
      cursor = page.next_cursor ?? null
    }
    expect(ids).toEqual(whole.rooms.map(({ id }) => id))
  }
})

test(
  'archived rooms are listed where they are asked for, to their members alone, and by no other list',
  heavy,
  async () => {
    const room = await channelOf(owner, member)
    const idsOf = async (door: 'rest' | 'socket', who: Person, archived?: boolean) =>
      (await who.does(door, inbox.list, archived === undefined ? {} : { archived })).rooms.map(({ id }) => id)
    for (const door of ['rest', 'socket'] as const) expect(await idsOf(door, member, true)).not.toContain(room.id)
    await owner.does('rest', rooms.archive, { room })
    for (const door of ['rest', 'socket'] as const) {
      await expect.poll(() => idsOf(door, member, true), patience).toContain(room.id)
      for (const others of [undefined, false]) expect(await idsOf(door, member, others)).not.toContain(room.id)
      const { rooms: listed } = await member.does(door, inbox.list, { archived: true, limit: 100 })
      expect(listed.every(({ is_active }) => !is_active)).toBe(true)
    }
    await member.does('rest', rooms.leave, { room })
    await expect.poll(() => idsOf('rest', member, true), patience).not.toContain(room.id)
  },
)

test('people without a name are found by the one that is made for them', heavy, async () => {
  const room = await channelOf(owner, member)
  const search = madeUpName(member.account).split(' ').slice(0, 2).join(' ').toLowerCase()
  const { members: found } = await owner.does('rest', rooms.members, { room, search })
  expect(found.map(({ user_address }) => user_address)).toEqual([member.account])
})
