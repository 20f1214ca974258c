// Modes: embedded
import { beforeAll, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { channelOf, groupOf, moderates, over, type Person, say } from '#test/support/people'
import { doors, paths } from './room-doors.ts'

const { owner, member, banned, removed, outsider } = await bootWith([
  'owner',
  'member',
  'banned',
  'removed',
  'outsider',
])

const places: (readonly [string, RoomRef & { id: string }, string])[] = []
beforeAll(async () => {
  for (const [type, made] of [
    ['group', groupOf],
    ['channel', channelOf],
  ] as const) {
    const room = await made(owner, member, banned, removed)
    if (type === 'channel')
      await moderates(owner, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
    const { id } = await say(banned, room, 'What was said before')
    await moderates(owner, { room, action: 'ban', target: banned.account, reason: 'spam' })
    await owner.does('rest', rooms.kick, { room, address: removed.account })
    places.push([type, room, id])
  }
})

/** What somebody is answered at each door of a room, over both. */
async function answersOf(
  who: Person,
  room: RoomRef & { id: string },
  message: string,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  for (const { name, operation, input } of doors) {
    if (operation.stream || name === 'rooms.join') continue
    const ids = Object.fromEntries(
      ['id', 'message_id', 'reply_to'].flatMap((id) => (id in input ? [[id, message]] : [])),
    )
    for (const door of over) {
      if ((door === 'rest' ? operation.http : operation.socket) === undefined) continue
      const answer = await who.tries(door, operation, { ...input, ...ids, room })
      answers[`${door} ${name}`] = answer.ok ? answer.data : answer.error
    }
  }
  for (const path of paths.filter((one) => !one.includes('/stream'))) {
    const { status, body } = await who.rest(path.replace(':id', room.id).replace(':message', message))
    answers[path] = [status, body]
  }
  return answers
}

test('O08: who may not read a room learns no number of it by asking again', {
  ...heavy,
  timeout: 120_000,
}, async () => {
  for (const [, room, message] of places)
    for (const who of [banned, removed, outsider]) {
      const before = await answersOf(who, room, message)
      for (let many = 0; many < 3; many++) await say(member, room, `What nobody else hears ${many}`)
      expect(await answersOf(who, room, message)).toEqual(before)
    }
})

test.each(over)('O08: over %s, a check and a refusal tell who may not read a room no place in it', async (door) => {
  for (const [type, room] of places)
    for (const who of [banned, removed, outsider]) {
      const input = { room, text: 'What goes on here?' }
      const checked = await who.tries(door, messages.check, input)
      const refused = await who.refused(door, messages.send, { ...input, client_msg_id: crypto.randomUUID() })
      if (type === 'group' && who !== banned) {
        expect([checked.ok, refused.code]).toEqual([false, 'ROOM_NOT_FOUND'])
        continue
      }
      expect(checked).toMatchObject({ ok: true, data: { verdict: { ok: false, judged_seq: 0 } } })
      expect(refused).toMatchObject({ verdict: { ok: false, judged_seq: 0 } })
    }
  const [[, room]] = places as [(typeof places)[number]]
  expect((await member.does(door, messages.check, { room, text: 'x' })).verdict.judged_seq).toBeGreaterThan(0)
})
