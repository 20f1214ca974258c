// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RoomFacts, Rooms } from '#server/domains/rooms/room-state/model'
import { RoomEvents } from '#server/log/model'
import { logged, moderation } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { invitations } from '#shared/api/rooms/invitations'
import { rooms } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { appoint } from '#test/support/moderation'
import { befriend, channelOf, type Door, groupOf, moderates, over, type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const fifty = <T>(make: (at: number) => Promise<T>) => Promise.all(Array.from({ length: 50 }, (_, at) => make(at)))

describe('invitations', () => {
  let server: Booted
  let root: Person
  let owner: Person
  let aide: Person
  let member: Person
  let guest: Person
  let group: Awaited<ReturnType<typeof groupOf>>
  let round = 0

  beforeAll(async () => {
    server = await boot({ environment: { SUPER_ADMINS: wallet('invites: root').address } })
    root = await person(server, 'invites: root')
    owner = await person(server, 'invites: owner')
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    round += 1
    aide = await person(server, `invites: aide ${round}`)
    member = await person(server, `invites: member ${round}`)
    guest = await person(server, `invites: guest ${round}`)
    await befriend(owner, aide)
    group = await groupOf(owner, aide, member)
  })

  const make = (by = owner, more: Partial<CallOf<typeof invitations.create>> = {}, door: Door = 'rest') =>
    by.does(door, invitations.create, { room: group, ...more })
  const accept = (who: Person, token: string, door: Door = 'rest') => who.does(door, invitations.accept, { token })
  const codeOf = async (who: Person, token: string, door: Door = 'rest') => {
    const [read, accepted] = [
      await who.refused(door, invitations.read, { token }),
      await who.refused(door, invitations.accept, { token }),
    ]
    expect(read.code).toBe(accepted.code)
    return accepted.code
  }
  const open = async (by = owner) => (await by.does('rest', invitations.list, { room: group })).invitations
  const names = async () =>
    (await owner.does('rest', rooms.members, { room: group })).members.map(({ user_address }) => user_address)
  const suspend = (whom: Person, ban: boolean) =>
    root.does('rest', accounts.suspend, { userAddress: whom.account, ban })
  const promote = (whom: Person, canManageMods: boolean) => appoint(owner, group, whom, { canManageMods })

  solo.each(over)(
    'M64: a link tells its room and its maker, and lets in whom it is given to, over %s',
    async (door) => {
      const { invitation, token, url } = await make(owner, {}, door)
      expect(token).toMatch(/^[\w-]{43}$/)
      expect(url).toBe(`http://localhost:3000/invite/${token}`)
      expect(invitation).toMatchObject({ room: group, invited_by: owner.account, max_uses: 10, uses: 0 })
      expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(7 * 86_400_000)
      const read = await guest.does(door, invitations.read, { token })
      expect(read).toEqual({
        room: {
          type: 'group',
          id: group.id,
          name: 'A group',
          emoji: '👥',
          icon_url: null,
          gate: null,
          member_count: 3,
        },
        invited_by: { id: owner.account, name: expect.any(String) },
        expires_at: invitation.expires_at,
        is_member: false,
      })
      expect(JSON.stringify(read)).not.toContain(member.account)
      const line = await member.line()
      await member.ask('room:join', { room: group })
      expect((await accept(guest, token, door)).room).toMatchObject({ id: group.id, is_member: true, member_count: 4 })
      expect(await names()).toContain(guest.account)
      const joined = await line.follows(group, ({ type }) => type === 'member.joined')
      expect(joined.data).toMatchObject({ member: { id: guest.account } })
      expect(JSON.stringify(joined)).not.toContain(token)
      expect(await guest.does(door, invitations.read, { token })).toMatchObject({ is_member: true })
      expect((await owner.does(door, invitations.list, { room: group })).invitations).toEqual([
        { ...invitation, uses: 1 },
      ])
      await guest.ask('message:send', { room: group, text: 'Here I am' }).then(({ ok }) => expect(ok).toBe(true))
    },
  )

  /** What somebody without an account is answered. */
  const asStranger = async (token: string) => (await call(server.url, `GET /api/invitations/${token}`)).body

  solo('a stranger sees whereto a link leads until it ends', async () => {
    const { token, invitation } = await make()
    const read = await guest.does('rest', invitations.read, { token })
    expect(await asStranger(token)).toMatchObject(read)
    await owner.does('rest', invitations.revoke, { room: group, id: invitation.id })
    expect(await asStranger(token)).toMatchObject({ error: { code: 'INVITATION_REVOKED' } })
  })

  solo('M64: channels have links too, also closed ones', async () => {
    const channel = await channelOf(owner)
    await moderates(owner, { room: channel, action: 'rules', patch: { read_access: 'members' } })
    const { token } = await owner.does('socket', invitations.create, { room: channel })
    await accept(guest, token, 'socket')
    expect((await guest.does('rest', rooms.members, { room: channel })).total).toBe(2)
  })

  solo.each(over)('M64: a link to a room of the staff lets nobody else in, over %s', async (door) => {
    const id = crypto.randomUUID()
    const now = new Date().toISOString()
    const fields = { type: 'channel', id, name: `Staff ${id}`, emoji: '🔒', category: 'general', access_level: 'staff' }
    await Rooms.create({ _id: `channel:${id}`, ...fields, created_at: now, updated_at: now })
    const { token } = await root.does(door, invitations.create, { room: { type: 'channel', id } })
    expect(await codeOf(guest, token, door)).toBe('INVITATION_NOT_FOUND')
    expect(await asStranger(token)).toMatchObject({ error: { code: 'INVITATION_NOT_FOUND' } })
  })

  solo('M64: the token is stored as a hash alone, and shown once', async () => {
    const { token, invitation } = await make()
    const line = await owner.socket('/moderation')
    await owner.does('rest', invitations.list, { room: group })
    const stored = JSON.stringify([await RoomFacts.find().lean(), await RoomEvents.find().lean()])
    expect(stored).not.toContain(token)
    const shown = JSON.stringify([
      await open(),
      await owner.rest(`GET /api/rooms/group/${group.id}/events?after_seq=0`),
      await owner.rest(`GET /api/moderation?action=mod-log&chatType=group&channelId=${group.id}`),
      line.all(logged),
    ])
    expect(shown).toContain(invitation.id)
    for (const secret of [token, 'token_hash']) expect(shown).not.toContain(secret)
  })

  test('M64: making and taking back are in the log of moderation, and told to moderators at once', async () => {
    const lines = await Promise.all(server.urls.map((url) => owner.socket('/moderation', url)))
    for (const line of lines) await owner.does(line, moderation.queue, { scope: 'room', room: group })
    const { invitation } = await make()
    await owner.does('rest', invitations.revoke, { room: group, id: invitation.id })
    await owner.does('socket', invitations.revoke, { room: group, id: invitation.id })
    const log = await owner.does('rest', moderation.inspect, {
      action: 'mod-log',
      chatType: 'group',
      channelId: group.id,
    })
    const entries = 'logs' in log ? log.logs : []
    expect(entries.map(({ action_type }) => action_type)).toEqual(['uninvite', 'invite'])
    expect(entries[1]?.metadata).toMatchObject({ invitation_id: invitation.id, max_uses: 10 })
    const told = [...entries].reverse().map((entry) => ({ room: group, entry }))
    for (const line of lines) await expect.poll(() => line.all(logged)).toEqual(told)
    expect(await open()).toEqual([])
  })

  solo.each(over)('M64: who may not manage the room makes, lists and revokes no links, over %s', async (door) => {
    const { invitation } = await make()
    await promote(aide, false)
    for (const who of [member, aide]) {
      expect((await who.refused(door, invitations.create, { room: group })).code).toBe('FORBIDDEN')
      expect((await who.refused(door, invitations.list, { room: group })).code).toBe('FORBIDDEN')
      expect((await who.refused(door, invitations.revoke, { room: group, id: invitation.id })).code).toBe('FORBIDDEN')
    }
    for (const declared of [invitations.create, invitations.list])
      expect((await guest.refused(door, declared, { room: group })).code).toBe('ROOM_NOT_FOUND')
    expect((await guest.refused(door, invitations.revoke, { room: group, id: invitation.id })).code).toBe(
      'ROOM_NOT_FOUND',
    )
    expect((await owner.refused(door, invitations.revoke, { room: group, id: 'unknown' })).code).toBe('NOT_FOUND')
    await promote(aide, true)
    await make(aide, {}, door)
  })

  solo.each(over)(
    'M64: a wrong, an expired, a used-up and a revoked link are refused in words of their own, over %s',
    async (door) => {
      const { token } = await make()
      expect(await codeOf(guest, token.slice(0, -1), door)).toBe('INVITATION_NOT_FOUND')
      const { token: single } = await make(owner, { max_uses: 1 })
      await accept(member, single, door)
      await accept(await person(server, `invites: first ${round}`), single, door)
      expect(await codeOf(guest, single, door)).toBe('INVITATION_USED_UP')
      const { token: taken, invitation } = await make()
      await owner.does(door, invitations.revoke, { room: group, id: invitation.id })
      expect(await codeOf(guest, taken, door)).toBe('INVITATION_REVOKED')
      const { token: brief } = await make(owner, { expires_in_seconds: 60 })
      server.setAhead(59)
      await guest.does(door, invitations.read, { token: brief })
      server.setAhead(61)
      try {
        expect(await codeOf(guest, brief, door)).toBe('INVITATION_EXPIRED')
      } finally {
        server.setAhead(0)
      }
      expect(await names()).not.toContain(guest.account)
    },
  )

  const ends: [string, (by: Person) => Promise<unknown>, (by: Person) => Promise<unknown>][] = [
    [
      'is demoted',
      (by) => moderates(owner, { room: group, action: 'demote', target: by.account }),
      (by) => promote(by, true),
    ],
    ['may manage no more', (by) => promote(by, false), (by) => promote(by, true)],
    [
      'is kicked',
      (by) => owner.does('rest', rooms.kick, { room: group, address: by.account }),
      async (by) => {
        await owner.does('rest', rooms.addMembers, { id: group.id, addresses: [by.account] })
        await promote(by, true)
      },
    ],
    [
      'is banned',
      (by) => moderates(owner, { room: group, action: 'ban', target: by.account }),
      async (by) => {
        await moderates(owner, { room: group, action: 'unban', target: by.account })
        await owner.does('rest', rooms.addMembers, { id: group.id, addresses: [by.account] })
        await promote(by, true)
      },
    ],
    [
      'leaves',
      (by) => by.does('rest', rooms.leave, { room: group }),
      async (by) => {
        await owner.does('rest', rooms.addMembers, { id: group.id, addresses: [by.account] })
        await promote(by, true)
      },
    ],
  ]
  solo.each(ends)('M64: the links of who %s are dead, and stay so', async (_how, end, restore) => {
    await promote(aide, true)
    const { token } = await make(aide)
    await guest.does('rest', invitations.read, { token })
    await end(aide)
    expect(await codeOf(guest, token)).toBe('INVITATION_REVOKED')
    expect(await open()).toEqual([])
    await restore(aide)
    expect(await codeOf(guest, token)).toBe('INVITATION_REVOKED')
    const { token: anew } = await make(aide)
    await accept(guest, anew)
  })

  solo('M64: the links of an admin end with the rank, and let nobody in while their maker is suspended', async () => {
    const channel = await channelOf(owner, aide)
    await owner.does('rest', rooms.setRole, { room: channel, address: aide.account, role: 'admin' })
    const { token } = await aide.does('rest', invitations.create, { room: channel })
    await guest.does('rest', invitations.read, { token })
    await suspend(aide, true)
    expect(await codeOf(guest, token)).toBe('INVITATION_REVOKED')
    for (const declared of [invitations.create, invitations.list])
      expect((await aide.refused('rest', declared, { room: channel })).code).toBe('SUSPENDED')
    expect((await aide.refused('rest', invitations.revoke, { room: channel, id: 'any' })).code).toBe('SUSPENDED')
    await suspend(aide, false)
    await guest.does('rest', invitations.read, { token })
    await owner.does('rest', rooms.setRole, { room: channel, address: aide.account, role: 'moderator' })
    expect(await codeOf(guest, token)).toBe('INVITATION_REVOKED')
    await owner.does('rest', rooms.setRole, { room: channel, address: aide.account, role: 'admin' })
    expect(await codeOf(guest, token)).toBe('INVITATION_REVOKED')
  })

  solo.each(over)('M64: who could not join otherwise joins by no link either, over %s', async (door) => {
    const { token } = await make()
    await moderates(owner, { room: group, action: 'ban', target: member.account })
    expect(await codeOf(member, token, door)).toBe('BANNED')
    await guest.does('rest', social.block, { userAddress: owner.account })
    expect(await codeOf(guest, token, door)).toBe('BLOCKED')
    await guest.does('rest', social.unblock, { userAddress: owner.account })
    await owner.does('rest', social.block, { userAddress: guest.account })
    expect(await codeOf(guest, token, door)).toBe('BLOCKED')
    await owner.does('rest', social.unblock, { userAddress: guest.account })
    await suspend(guest, true)
    expect(await codeOf(guest, token, door)).toBe('SUSPENDED')
    await suspend(guest, false)
    await owner.does('rest', rooms.archive, { room: group })
    expect(await codeOf(guest, token, door)).toBe('ROOM_ARCHIVED')
    expect((await owner.refused(door, invitations.create, { room: group })).code).toBe('ROOM_ARCHIVED')
    for (const declared of [invitations.create, invitations.list])
      expect((await member.refused(door, declared, { room: group })).code).toBe('BANNED')
    expect((await member.refused(door, invitations.revoke, { room: group, id: 'any' })).code).toBe('BANNED')
  })

  test('M64: of fifty people at once over every node a link with one use lets in one', heavy, async () => {
    const { token } = await make(owner, { max_uses: 1 })
    const crowd = await fifty((at) => person(server, `invites: crowd ${round} ${at}`))
    const answers = await Promise.all(
      crowd.map((one, at) =>
        at % 2 === 0
          ? one.rest(`POST /api/invitations/${token}/accept`).then(({ status, code }) => (status === 200 ? 'in' : code))
          : one.ask('invitation:accept', { token }).then((answer) => (answer.ok ? 'in' : answer.error.code)),
      ),
    )
    expect(answers.filter((answer) => answer === 'in')).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'INVITATION_USED_UP')).toHaveLength(49)
    expect(await names()).toHaveLength(4)
  })

  test('M64: one person fifty times at once takes one use, with and without a key', async () => {
    const { token } = await make(owner, { max_uses: 3 })
    const keyed = await fifty(() => guest.rest(`POST /api/invitations/${token}/accept`, { idempotency_key: 'once' }))
    expect(new Set(keyed.map(({ status }) => status))).toEqual(new Set([200]))
    await fifty(async (at) => void (await (at % 2 ? guest.ask('invitation:accept', { token }) : accept(guest, token))))
    expect((await open())[0]?.uses).toBe(1)
    expect((await names()).filter((one) => one === guest.account)).toHaveLength(1)
  })

  solo('M64: a link made fifty times under one key is one link with one token', async () => {
    const made = await fifty((at) =>
      make(owner, { idempotency_key: `make ${round}`.replace(' ', '-') }, at % 2 ? 'socket' : 'rest'),
    )
    expect(new Set(made.map(({ token }) => token)).size).toBe(1)
    expect(await open()).toHaveLength(1)
    await accept(guest, made[0]?.token ?? '')
  })

  test('M64: a ban and an acceptance at once never make a banned member', heavy, async () => {
    const { token } = await make(owner, { max_uses: 1_000 })
    for (let turn = 0; turn < 5; turn++) {
      const one = await person(server, `invites: raced ${round} ${turn}`)
      await Promise.all([
        fifty(() => one.rest(`POST /api/invitations/${token}/accept`)),
        moderates(owner, { room: group, action: 'ban', target: one.account }),
      ])
      expect(await names()).not.toContain(one.account)
      expect(await codeOf(one, token)).toBe('BANNED')
    }
  })

  solo('M64: the links of who is suspended take no place of those that others make', async () => {
    await promote(aide, true)
    await fifty(() => make(aide))
    expect((await owner.refused('rest', invitations.create, { room: group })).code).toBe('CONFLICT')
    await suspend(aide, true)
    const { invitation } = await make()
    expect(await open()).toEqual([invitation])
    await suspend(aide, false)
  })

  solo('M64: a room has fifty open links at most, and says how long and how often each may be used', async () => {
    await fifty(() => make())
    expect((await owner.refused('rest', invitations.create, { room: group })).code).toBe('CONFLICT')
    const [first] = await open()
    await owner.does('rest', invitations.revoke, { room: group, id: first?.id ?? '' })
    await make()
    for (const more of [
      { max_uses: 0 },
      { max_uses: 1_001 },
      { expires_in_seconds: 30 * 86_400 + 1 },
      { expires_in_seconds: 1.5 },
    ])
      expect((await owner.refused('rest', invitations.create, { room: group, ...more })).code).toBe('VALIDATION_ERROR')
  })
})
