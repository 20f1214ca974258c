// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RoomEvents } from '#server/log/model'
import { moderation } from '#shared/api/moderation/moderation'
import { type ModerationAction, moderationActions } from '#shared/api/moderation/moderation-acts'
import { social } from '#shared/api/moderation/social'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { appoint, type Grants, type More } from '#test/support/moderation'
import { channelOf, moderates, outcomeOf, over, type Person, people, say } from '#test/support/people'
import { call, connect, heard, wallet } from '#test/support/wallet'

let server: Booted
let room: RoomRef & { id: string }
let author: Person
let target: Person
let roles: Record<Role, Person | null>

type Permission = keyof Grants
const needs: Record<ModerationAction, Permission> = {
  mute: 'canMute',
  unmute: 'canMute',
  ban: 'canMute',
  unban: 'canMute',
  warn: 'canMute',
  delete: 'canDelete',
  purge: 'canDelete',
  pin: 'canPin',
  unpin: 'canPin',
  promote: 'canManageMods',
  demote: 'canManageMods',
  rules: 'canManageMods',
  word_add: 'canManageMods',
  word_remove: 'canManageMods',
}
const permissions = ['canPin', 'canDelete', 'canMute', 'canManageMods'] as const
const lacking = <Lacked extends Permission>(permission: Lacked) => `moderator who may all but ${permission}` as const

/** Who may do what needs a permission. */
const table = {
  anonymous: () => false,
  stranger: () => false,
  member: () => false,
  'moderator elsewhere': () => false,
  moderator: (permission: Permission) => permission !== 'canManageMods',
  [lacking('canPin')]: (permission: Permission) => permission !== 'canPin',
  [lacking('canDelete')]: (permission: Permission) => permission !== 'canDelete',
  [lacking('canMute')]: (permission: Permission) => permission !== 'canMute',
  [lacking('canManageMods')]: (permission: Permission) => permission !== 'canManageMods',
  'room admin': () => true,
  owner: () => true,
  admin: () => true,
  'super admin': () => true,
} satisfies Record<string, (permission: Permission) => boolean>
type Role = keyof typeof table
const names = Object.keys(table) as Role[]

beforeAll(async () => {
  server = await boot({ environment: { ADMINS: wallet('admin').address, SUPER_ADMINS: wallet('super admin').address } })
  ;[author, target] = await people(server, 'author', 'target')
  const cast = await people(server, ...names)
  roles = Object.fromEntries(names.map((name, at) => [name, name === 'anonymous' ? null : cast[at]])) as typeof roles
  const { owner, member, moderator, 'room admin': roomAdmin, 'moderator elsewhere': elsewhere } = roles
  if (!owner || !member || !moderator || !roomAdmin || !elsewhere) throw new Error('Somebody is missing')
  room = await channelOf(owner, author, target, member, roomAdmin, elsewhere)
  await owner.does('rest', rooms.setRole, { room, address: roomAdmin.account, role: 'admin' })
  await appoint(owner, room, moderator)
  await appoint(owner, await channelOf(owner), elsewhere, { canManageMods: true })
  const full = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
  for (const permission of permissions) {
    const who = roles[lacking(permission)]
    if (who) await appoint(owner, room, who, { ...full, [permission]: false })
  }
})
afterAll(() => server.close())

let made = 0
/** What an act needs, so that nothing but the rank of its actor can refuse it. */
async function inputOf(action: ModerationAction): Promise<More> {
  made += 1
  const owner = roles.owner ?? author
  switch (action) {
    case 'delete':
    case 'pin':
      return { message_id: (await say(author, room, 'Look')).id }
    case 'unpin': {
      const { id: message_id } = await say(author, room, 'Look')
      await moderates(owner, { room, action: 'pin', message_id })
      return { message_id }
    }
    case 'rules':
      return { patch: { rules: { rules_text: `Rule ${made}` } } }
    case 'word_add':
      return { patch: { word: `word${made}` } }
    case 'word_remove': {
      const { record } = await moderates(owner, { room, action: 'word_add', patch: { word: `word${made}` } })
      return { patch: { word_id: (record as { id: string }).id } }
    }
    default: {
      const about = { target: target.account, reason: `Reason ${made}` }
      const moderator = roles.moderator ?? owner
      const root = roles['super admin'] ?? owner
      for (const lift of ['unban', 'unmute'] as const) await moderates(root, { room, action: lift, ...about })
      if (action === 'unban') await moderates(moderator, { room, action: 'ban', ...about })
      if (action === 'unmute') await moderates(moderator, { room, action: 'mute', ...about })
      return about
    }
  }
}

/** The documented path of an act, beside its own; null where there is none. */
function documented(action: ModerationAction, input: Record<string, unknown>): [string, object] | null {
  const {
    patch,
    message_id: messageId,
    target: targetAddress,
    reason,
  } = input as { patch?: Record<string, unknown> } & typeof input
  const chat = { chatType: 'channel', chatId: room.id }
  const by = (name: string, more: object = {}): [string, object] => [
    'POST /api/moderation',
    { action: name, channelId: room.id, messageId, targetAddress, ...more },
  ]
  switch (action) {
    case 'ban':
    case 'unban':
      return ['POST /api/chat-rules/ban', { action, ...chat, targetAddress, reason }]
    case 'mute':
      return by('mute-user', { reason })
    case 'unmute':
      return by('unmute-user')
    case 'promote':
      return by('promote-mod')
    case 'demote':
      return by('demote-mod')
    case 'delete':
      return by('delete-message')
    case 'pin':
    case 'unpin':
      return by('pin-message', { shouldPin: action === 'pin' })
    case 'rules':
      return ['POST /api/chat-rules', { ...chat, ...patch }]
    case 'word_add':
      return ['POST /api/blocked-words', { scope: 'room', ...chat, ...patch }]
    case 'word_remove':
      return ['DELETE /api/blocked-words', { id: patch?.word_id }]
    default:
      return null
  }
}

/** What is refused to those who are not here at all is refused for that. */
function refusalOf(name: Role, action: ModerationAction): string {
  if (name === 'anonymous') return '401 UNAUTHORIZED'
  const isOnMessage = action === 'delete' || action === 'pin' || action === 'unpin'
  return name === 'stranger' && isOnMessage ? '403 NOT_A_MEMBER' : '403 FORBIDDEN'
}

const entries = () => RoomEvents.countDocuments({ room: `channel:${room.id}` })

describe('T13: each act is for those whom the table names', () => {
  describe.each(moderationActions)('%s', (action) => {
    test.each(names)('by %s', async (name) => {
      const who = roles[name]
      const isAllowed = table[name](needs[action])
      const ways: ((input: More) => Promise<Parameters<typeof outcomeOf>[0]>)[] = who
        ? over.map((door) => (input) => who.tries(door, moderation.act, { room, action, ...input }))
        : [(input) => call(server.url, 'POST /api/moderation/act', { room, action, ...input })]
      ways.push((input) => {
        const [route, body] = documented(action, { ...input }) ?? [
          'POST /api/moderation/act',
          { room, action, ...input },
        ]
        return who ? who.rest(route, body) : call(server.url, route, body)
      })
      for (const way of ways) {
        const input = await inputOf(action)
        const before = await entries()
        expect(outcomeOf(await way(input))).toBe(isAllowed ? '200' : refusalOf(name, action))
        if (!isAllowed) expect(await entries()).toBe(before)
      }
    })
  })

  test('nobody acts over a socket without a session', async () => {
    for (const namespace of ['/rooms', '/moderation', '/agents', '/notifications']) {
      const socket = connect(server.url, namespace, '')
      expect(await heard(socket, 'connect_error')).toMatchObject({
        data: { code: expect.stringMatching(/UNAUTHORIZED|SESSION_INVALID/) },
      })
      socket.close()
    }
  })

  test.each([
    ['admin', 'super admin', 'mute', 403],
    ['owner', 'admin', 'mute', 403],
    ['super admin', 'admin', 'mute', 200],
    ['super admin', 'admin', 'ban', 403],
    ['moderator', 'owner', 'warn', 403],
    ['moderator', 'room admin', 'purge', 403],
    ['moderator', lacking('canManageMods'), 'mute', 403],
    [lacking('canPin'), 'moderator', 'mute', 200],
    ['room admin', 'owner', 'mute', 403],
    ['owner', 'room admin', 'mute', 200],
    ['admin', 'owner', 'mute', 200],
  ] as const)('%s to %s: %s is %d', async (actor, whom, action, status) => {
    const [who, them] = [roles[actor], roles[whom]]
    if (!who || !them) throw new Error('Somebody is missing')
    const answer = await who.tries('socket', moderation.act, { room, action, target: them.account })
    expect(answer.ok ? 200 : answer.error.status).toBe(status)
    if (status === 200) await moderates(roles['super admin'] ?? who, { room, action: 'unmute', target: them.account })
  })
})

describe('T51: reports', () => {
  test.each<[string, Grants, boolean]>([
    ['pins alone', { canPin: true, canDelete: false, canMute: false, canManageMods: false }, false],
    ['grants alone', { canPin: false, canDelete: false, canMute: false, canManageMods: true }, false],
    ['deletion', { canPin: false, canDelete: true, canMute: false, canManageMods: false }, true],
    ['mutes', { canPin: false, canDelete: false, canMute: true, canManageMods: false }, true],
  ])(
    'by %s: they are seen, claimed and decided only with a right over messages or people',
    async (name, grants, may) => {
      const owner = roles.owner ?? author
      const [helper, rude, reporter] = await people(
        server,
        `helper by ${name}`,
        `rude to ${name}`,
        `reports to ${name}`,
      )
      const here = await channelOf(owner, helper, rude, reporter)
      await appoint(owner, here, helper, grants)
      const { id: messageId } = await say(rude, here, 'Something rude')
      await reporter.does('rest', social.report, {
        reportedAddress: rude.account,
        reportType: 'harassment',
        messageId,
        conversationType: 'channel',
        conversationId: here.id,
      })
      const { queue } = await owner.does('socket', moderation.queue, { scope: 'room', room: here })
      const item = queue[0]?.id ?? ''
      const outcome = may ? '200' : '404 NOT_FOUND'
      const seen = await helper.does('socket', moderation.queue, { scope: 'room', room: here })
      expect(seen.queue).toHaveLength(may ? 1 : 0)
      for (const door of over) {
        for (const on of [true, false])
          expect(outcomeOf(await helper.tries(door, moderation.claim, { item, on }))).toBe(outcome)
        expect(outcomeOf(await helper.tries(door, moderation.decide, { item, decision: 'dismissed' }))).toBe(outcome)
      }
      if (!may) expect(await helper.refused('rest', moderation.evidence, { item })).toMatchObject({ status: 404 })
    },
  )

  test('of fifty equal ones at once one is kept, with the server’s own copy', async () => {
    const reporter = roles.member ?? author
    const { id: messageId } = await say(author, room, 'What I really said')
    const input = { reportedAddress: author.account, reportType: 'spam', messageId, messageContent: 'Forged' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => reporter.rest('POST /api/users/report', input)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(49)
    const { reports } = await reporter.does('rest', social.reports, {})
    expect(reports).toMatchObject([{ message_content: 'What I really said' }])
    const long = { ...input, reportType: 'other', messageContent: 'x'.repeat(1_001) }
    expect(await reporter.rest('POST /api/users/report', long)).toMatchObject({ status: 400 })
  })
})
