// Modes: embedded
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { logged, moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { inbox } from '#shared/api/rooms/inbox'
import { invitations } from '#shared/api/rooms/invitations'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { appoint, subscribe } from '#test/support/moderation'
import { listenTo, moderates, over, type Person, say } from '#test/support/people'
import { call } from '#test/support/wallet'
import { doors, paths } from './room-doors.ts'

const { server, root, keeper, demoted, suspended, banned, stranger } = await bootWith(
  ['root', 'keeper', 'demoted', 'suspended', 'banned', 'stranger'],
  { superAdmins: ['root'] },
)

const nowhere = { type: 'channel', id: '0195c2de-0000-7abc-8def-0123456789ab' } as const
const noMessage = '0195c2de-0000-7abc-8def-0123456789ac'
let room: RoomRef & { id: string }
let message: string
beforeAll(async () => {
  const asked = { name: 'The hold', accessLevel: 'staff' } as const
  const { channel } = await root.does('rest', rooms.createChannel, asked)
  room = { type: 'channel', id: channel.id }
  for (const who of [keeper, demoted, suspended, banned]) {
    await appoint(root, null, who, { canMute: true, canManageMods: true })
    await vi.waitFor(async () => expect(await isMember(who)).toBe(true), 10_000)
  }
  message = (await say(demoted, room, 'What is in the hold')).id
})

async function isMember(who: Person): Promise<boolean> {
  const answer = await who.tries('rest', rooms.get, { room })
  return answer.ok && answer.data.room.is_member
}

const named = (text: string, of: RoomRef, its: string) =>
  text
    .replaceAll(of.id ?? '', '<room>')
    .replaceAll(its, '<message>')
    .replace(/"judged_seq":\d+/, '')

/** What this person is answered of each door, the room and the message without their names. A suspension is told with its place, whatever the room. */
async function answersOf(who: Person, of: RoomRef, its: string): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const { name, operation, input } of doors) {
    const ids = Object.fromEntries(['id', 'message_id', 'reply_to'].flatMap((id) => (id in input ? [[id, its]] : [])))
    for (const door of over) {
      if ((door === 'rest' ? operation.http : operation.socket) === undefined) continue
      const key = door === 'rest' && 'client_msg_id' in input ? { client_msg_id: crypto.randomUUID() } : {}
      const answer = await who.tries(door, operation, { ...input, ...ids, ...key, room: of })
      answers[`${door} ${name}`] = named(JSON.stringify(answer), of, its)
    }
  }
  for (const path of paths) {
    const { status, body } = await who.rest(path.replace(':id', of.id ?? '').replace(':message', its))
    answers[path] = named(JSON.stringify([status, body]), of, its)
  }
  const joined = await who.tries('socket', messages.join, { room: of })
  answers['room:join'] = named(JSON.stringify(joined), of, its)
  answers['by its message'] = JSON.stringify(await who.tries('rest', messages.removeById, { messageId: its }))
  return answers
}

async function listsNothing(who: Person): Promise<void> {
  const shown = JSON.stringify([
    (await who.rest('GET /api/channels?limit=200')).body,
    (await who.rest('GET /api/channels?joined=true')).body,
    (await who.rest('GET /api/channels?search=hold')).body,
    await who.does('rest', inbox.list, {}),
    await who.does('rest', inbox.openAgain, {}),
    (await who.rest('GET /api/moderation?action=mod-log')).body,
  ])
  expect(shown).not.toContain(room.id)
  expect(shown).not.toContain('hold')
}

describe('a channel of the staff', () => {
  test('is at every documented door what is not there, for a stranger', heavy, async () => {
    expect(doors.length).toBeGreaterThan(30)
    expect(await answersOf(stranger, room, message)).toEqual(await answersOf(stranger, nowhere, noMessage))
    await listsNothing(stranger)
    for (const path of ['GET /api/channels/:id', 'GET /api/public/channels/:id', 'GET /api/rooms/channel/:id/events']) {
      const asked = (id: string) => call(server.url, path.replace(':id', id))
      const [there, not] = [await asked(room.id), await asked(nowhere.id)]
      expect([there.status, there.body]).toEqual([not.status, not.body])
    }
  })

  test('lets nobody in who has a link', async () => {
    const { token } = await root.does('rest', invitations.create, { room })
    for (const operation of [invitations.read, invitations.accept])
      expect((await stranger.refused('rest', operation, { token })).code).toBe('INVITATION_NOT_FOUND')
    expect(await isMember(stranger)).toBe(false)
  })

  test('goes silent for who is demoted while they listen, and is then not there for them either', async () => {
    const [kept, lost] = [await listenTo(keeper, room), await listenTo(demoted, room)]
    const log = await subscribe(demoted, room)
    const reading = demoted.rest(`GET /api/rooms/channel/${room.id}/events?after_seq=${await headOf(demoted)}&wait=25`)
    await moderates(root, { room: null, action: 'demote', target: demoted.account })
    for (const line of [lost, log]) line.forget()
    expect((await reading).status).toBe(404)
    const { id } = await say(root, room, 'For the others')
    await moderates(root, { room, action: 'warn', target: keeper.account })
    await kept.follows(room, ({ data }) => 'message' in data && data.message?.id === id)
    expect(await answersOf(demoted, room, message)).toEqual(await answersOf(demoted, nowhere, noMessage))
    await listsNothing(demoted)
    expect(JSON.stringify(lost.log(room))).not.toContain('For the others')
    await demoted.tries(log, moderation.queue, { scope: 'room', room })
    expect(log.all(logged)).toEqual([])
  })

  test('is not there for who is suspended', async () => {
    await listenTo(suspended, room)
    await root.does('rest', accounts.suspend, { userAddress: suspended.account, ban: true })
    expect(await answersOf(suspended, room, message)).toEqual(await answersOf(suspended, nowhere, noMessage))
    await listsNothing(suspended)
  })

  test('tells who is banned there that they are, and nothing else', async () => {
    const line = await listenTo(banned, room)
    await moderates(root, { room, action: 'ban', target: banned.account, duration: '1h' })
    await say(root, room, 'Behind their back')
    const answers = await answersOf(banned, room, message)
    for (const answer of Object.values(answers)) {
      expect(answer).not.toContain('hold')
      expect(answer).not.toContain('Behind')
    }
    expect(answers['GET /api/channels/:id']).toContain('ROOM_NOT_FOUND')
    expect(answers['rest messages.history']).toContain('BANNED')
    expect(answers['rest rooms.join']).toContain('BANNED')
    expect(JSON.stringify(line.log(room))).not.toContain('Behind')
  })

  test('is open to those who stay', async () => {
    const { messages: page } = await keeper.does('rest', messages.history, { room })
    expect(page.map(({ content }) => content)).toContain('What is in the hold')
  })
})

const headOf = async (who: Person) => (await who.does('rest', messages.sync, { room, after_seq: 0 })).head_seq
