// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { appoint, logOf } from '#test/support/moderation'
import { alpha, channelOf, groupOf, moderates, type Person, people, person, say } from '#test/support/people'
import { wallet } from '#test/support/wallet'

describe('M64: GET /api/moderation with a chatType', () => {
  let server: Booted
  let owner: Person
  let member: Person
  let outsider: Person
  beforeAll(async () => {
    server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('chat type root').address } })
    ;[owner, member, outsider] = await people(server, 'chat type owner', 'chat type member', 'chat type outsider')
  })
  afterAll(() => server.close())

  const ask = async (who: Person, action: string, query: object) =>
    who.rest(`GET /api/moderation?${new URLSearchParams({ action, ...query })}`)

  test.each([
    ['channel', channelOf],
    ['group', groupOf],
  ] as const)('every question is answered for a %s, and of that kind of room alone', async (chatType, make) => {
    const room = await make(owner, member)
    await moderates(owner, { room, action: 'mute', target: member.account, duration: '1h' })
    const its = { chatType, channelId: room.id }
    const about = { ...its, userAddress: member.account }
    const answers = async (who: Person) => ({
      permissions: (await ask(who, 'permissions', { ...its, userAddress: owner.account })).body.permissions,
      checked: (await ask(who, 'check-muted', about)).body.isMuted,
      muted: (await ask(who, 'muted', its)).body.mutedUsers,
      logs: (await ask(who, 'mod-log', its)).body.logs,
    })
    expect(await answers(owner)).toMatchObject({
      permissions: { isModerator: true, canManageMods: true },
      checked: true,
      muted: [{ user_address: member.account }],
      logs: [{ action_type: 'mute', target_user_address: member.account, metadata: { chat_type: chatType } }],
    })
    await appoint(owner, room, member, { canPin: true })
    expect((await ask(owner, 'moderators', its)).body.moderators).toMatchObject([{ user_address: member.account }])
    const other = chatType === 'group' ? 'channel' : 'group'
    for (const action of ['permissions', 'moderators', 'muted', 'check-muted', 'mod-log'])
      expect([action, (await ask(owner, action, { ...about, chatType: other })).status]).toEqual([action, 404])
  })

  test('alpha is named by its kind alone', async () => {
    const root = await person(server, 'chat type root')
    await appoint(root, alpha, member, { canPin: true })
    const its = { chatType: 'alpha', userAddress: member.account }
    expect((await ask(owner, 'permissions', its)).body.permissions).toMatchObject({ isModerator: true })
    expect((await ask(owner, 'moderators', its)).body.moderators).toMatchObject([{ user_address: member.account }])
    const everywhere = { userAddress: member.account }
    expect((await ask(owner, 'permissions', everywhere)).body.permissions).toMatchObject({ isModerator: false })
  })

  test('a group is hidden from those outside it, and another kind of chat is refused', async () => {
    const room = await groupOf(owner, member)
    const its = { chatType: 'group', channelId: room.id, userAddress: member.account }
    for (const action of ['permissions', 'moderators', 'muted', 'check-muted', 'mod-log']) {
      expect([action, (await ask(outsider, action, its)).status]).toEqual([action, 404])
      expect([action, (await ask(owner, action, { ...its, chatType: 'dm' })).status]).toEqual([action, 400])
    }
    for (const action of ['muted', 'mod-log']) expect((await ask(member, action, its)).status).toBe(403)
  })
})

describe('POST /api/moderation with a chatType', () => {
  let server: Booted
  let root: Person
  let owner: Person
  let member: Person
  let outsider: Person
  beforeAll(async () => {
    server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('acts root').address } })
    ;[root, owner, member, outsider] = await people(server, 'acts root', 'acts owner', 'acts member', 'acts outsider')
  })
  afterAll(() => server.close())

  const act = (who: Person, action: string, more: object) => who.rest('POST /api/moderation', { action, ...more })
  /** A room as other operations found it, for holders of a token or at a place. */
  const openRoom = (type: 'token' | 'location') => async (_owner: Person, who: Person) => {
    const room = { type, id: crypto.randomUUID() }
    const now = new Date().toISOString()
    const about = { name: `A ${type} room`, emoji: '🪙', category: type, created_at: now, updated_at: now }
    await Rooms.create({ _id: roomKey(room), ...room, ...about })
    for (const one of [owner, who, root]) await one.does('rest', rooms.join, { room })
    return room
  }

  test.each([
    ['group', groupOf],
    ['token', openRoom('token')],
    ['location', openRoom('location')],
  ] as const)('reaches the members and messages of a %s', async (chatType, make) => {
    const room = await make(owner, member)
    const its = { chatType, channelId: room.id }
    const about = { ...its, targetAddress: member.account }
    const moderator = chatType === 'group' ? owner : root
    expect((await act(moderator, 'mute-user', { ...about, duration: '1h' })).body).toMatchObject({
      mute: { user_address: member.account },
    })
    expect((await member.refused('socket', messages.send, { room, text: 'Still here' })).code).toBe('MUTED')
    expect((await act(moderator, 'unmute-user', about)).status).toBe(200)
    const { id: messageId } = await say(member, room, 'Here again')
    for (const [action, more] of [
      ['pin-message', { shouldPin: true }],
      ['delete-message', {}],
    ] as const)
      expect((await act(moderator, action, { ...its, messageId, messageType: chatType, ...more })).status).toBe(200)
    expect((await act(moderator, 'promote-mod', { ...about, canPin: true })).body).toMatchObject({
      moderator: { user_address: member.account, can_pin: true },
    })
    expect((await act(moderator, 'demote-mod', about)).status).toBe(200)
    expect((await logOf(moderator, room, { chatType })).map(({ action_type }) => action_type)).toEqual([
      ...['demote_mod', 'promote_mod', 'delete', 'pin', 'unmute', 'mute'],
      // Whoever is first in a room that nobody runs, runs it.
      ...(chatType === 'group' ? [] : ['set_role']),
    ])
  })

  test('is for those who moderate there alone', async () => {
    const room = await groupOf(owner, member)
    const about = { chatType: 'group', channelId: room.id, targetAddress: owner.account }
    expect((await act(outsider, 'mute-user', about)).status).toBe(404)
    expect((await act(member, 'mute-user', about)).status).toBe(403)
    expect(
      (await act(owner, 'mute-user', { ...about, targetAddress: member.account, chatType: 'channel' })).status,
    ).toBe(404)
  })

  test('is about everywhere only where it names no kind of room', async () => {
    const about = { targetAddress: member.account }
    for (const chatType of ['group', 'channel', 'token'])
      expect(await act(root, 'promote-mod', { ...about, chatType })).toMatchObject({
        status: 400,
        body: { error: 'channelId required' },
      })
    expect((await act(root, 'promote-mod', { ...about, chatType: 'dm', channelId: 'x' })).status).toBe(400)
    const granted = await act(root, 'promote-mod', { ...about, chatType: 'alpha' })
    expect(granted.body).toMatchObject({ moderator: { user_address: member.account } })
    const everywhere = async () => (await root.rest('GET /api/moderation?action=moderators')).body.moderators
    expect(await everywhere()).toEqual([])
    expect((await act(root, 'promote-mod', { ...about, chatType: '' })).status).toBe(200)
    expect(await everywhere()).toMatchObject([{ user_address: member.account }])
  })
})
