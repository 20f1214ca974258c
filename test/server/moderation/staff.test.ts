// Modes: embedded
import { describe, expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint } from '#test/support/moderation'
import { alpha, channelOf, groupOf, moderates, type Person, people } from '#test/support/people'

const { server, root, owner, mod, member } = await bootWith(['root', 'owner', 'mod', 'member'], {
  entry: 'in alpha',
  superAdmins: ['root'],
})
const nowhere = { type: 'channel', id: 'nowhere' } as const

describe('who runs a room', () => {
  const staffOf = async (who: Person, room: RoomRef) =>
    (await who.does('rest', rooms.staff, { room })).staff.map(({ user_address, role }) => [user_address, role])

  test('N51: is told by rank, also who was given rights without a rank of a member', async () => {
    const room = await channelOf(owner, mod, member)
    expect(await staffOf(member, room)).toEqual([[owner.account, 'owner']])
    await appoint(owner, room, mod)
    expect(await staffOf(member, room)).toEqual([
      [owner.account, 'owner'],
      [mod.account, 'moderator'],
    ])
    await moderates(owner, { room, action: 'demote', target: mod.account })
    expect(await staffOf(member, room)).toEqual([[owner.account, 'owner']])
  })

  test('N51: in an official room, those who moderate everywhere are among them; elsewhere they are not', async () => {
    const room = await channelOf(owner, mod)
    await moderates(root, { room: null, action: 'promote', target: mod.account, patch: { canMute: true } })
    expect(await staffOf(member, alpha)).toContainEqual([mod.account, 'moderator'])
    expect(await staffOf(member, room)).toEqual([[owner.account, 'owner']])
    await moderates(root, { room: null, action: 'demote', target: mod.account })
  })

  test('N51: is told to who may read the room alone', async () => {
    const [stranger, banned] = await people(server, 'a stranger', 'somebody banned')
    const room = await channelOf(owner, banned)
    const group = await groupOf(owner)
    await moderates(owner, { room, action: 'ban', target: banned.account })
    const codes = [
      await banned.refused('rest', rooms.staff, { room }),
      await stranger.refused('rest', rooms.staff, { room: nowhere }),
      await stranger.refused('rest', rooms.staff, { room: group }),
    ]
    expect(codes.map(({ code }) => code)).toEqual(['BANNED', 'ROOM_NOT_FOUND', 'ROOM_NOT_FOUND'])
    await moderates(owner, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
    expect((await stranger.refused('rest', rooms.staff, { room })).code).toBe('NOT_A_MEMBER')
  })
})

describe('a display name', () => {
  const names = (who: Person, display_name: string) => who.tries('rest', accounts.updateProfile, { display_name })

  test.each(['Ada Lovelock', 'Аdа Lоvelосk', 'ADA  L0VELOCK', 'Àdá Lovelock'])(
    'N51: that looks like one of an admin of the site is refused: %s',
    async (name) => {
      await root.does('rest', accounts.updateProfile, { display_name: 'Ada Lovelock' })
      const answer = await names(member, name)
      expect(answer).toMatchObject({
        ok: false,
        error: {
          message: expect.stringMatching(/^This display name is not allowed\. It looks like the name of one who/),
        },
      })
    },
  )

  test('N51: of anybody else may be shared, also of a moderator of a room', async () => {
    const room = await channelOf(owner, mod, member)
    await appoint(owner, room, mod)
    expect(await names(mod, 'Grace Hopperly')).toMatchObject({ ok: true })
    expect(await names(member, 'Grace Hopperly')).toMatchObject({ ok: true })
    expect(await names(root, 'Ada Lovelock')).toMatchObject({ ok: true })
  })
})
