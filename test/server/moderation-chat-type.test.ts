// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { appoint } from '#test/support/moderation'
import { alpha, channelOf, groupOf, moderates, type Person, people, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

describe('M64: GET /api/moderation with a chatType', () => {
  let server: Booted
  let owner: Person
  let member: Person
  let outsider: Person
  beforeAll(async () => {
    server = await boot({ environment: { SUPER_ADMINS: wallet('chat type root').address } })
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
