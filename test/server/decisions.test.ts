import { expect, test } from 'vitest'
import {
  act,
  appoint,
  channelOf,
  done,
  doors,
  type Grants,
  officialChannel,
  type Place,
  people,
  type Somebody,
} from '#test/support/community'
import { communityOf } from '#test/support/community-of'

const every: Grants = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
const { server, root, admin, owner, roomAdmin, manager, moderator, member } = await communityOf(
  ['root', 'admin', 'owner', 'roomAdmin', 'manager', 'moderator', 'member'],
  { admins: ['admin'], superAdmins: ['root'] },
)

async function staffed(): Promise<Place & { id: string }> {
  const room = await channelOf(owner, roomAdmin, manager, moderator, member)
  await done(owner.call(`PATCH /api/channels/${room.id}/members/${roomAdmin.account}/role`, { role: 'admin' }))
  await appoint(owner, room, manager, every)
  await appoint(owner, room, moderator, { canMute: true })
  return room
}

const above = () => [
  [admin, [owner, roomAdmin, manager, moderator]] as const,
  [owner, [roomAdmin, manager, moderator]] as const,
  [roomAdmin, [manager, moderator]] as const,
  [manager, [moderator]] as const,
]

for (const [made, lifted] of [
  ['ban', 'unban'],
  ['mute', 'unmute'],
] as const)
  test.each(doors)(
    `M06: nobody lifts or replaces a ${made} that somebody above them has set, over %s`,
    async (door) => {
      const room = await staffed()
      const target = member.account
      for (const [superior, inferiors] of above()) {
        await done(act(superior, room, made, { target, duration: '24h', reason: 'as it is' }, door))
        for (const inferior of inferiors) {
          const tries = [
            act(inferior, room, lifted, { target }, door),
            act(inferior, room, made, { target, duration: '1h', reason: 'shorter' }, door),
            act(inferior, room, made, { target, duration: 'permanent', reason: 'mine now' }, door),
            inferior.call('POST /api/moderation', {
              ...{ action: 'unmute-user', channelId: room.id, targetAddress: target },
            }),
            inferior.call('POST /api/chat-rules/ban', {
              ...{ action: 'unban', chatType: 'channel', chatId: room.id, targetAddress: target },
            }),
          ]
          const codes = (await Promise.all(tries)).map(({ code }) => code)
          expect(codes.filter((code) => code === 'FORBIDDEN')).toHaveLength(4)
        }
        const same = await done(act(moderator, room, made, { target, duration: '24h', reason: 'as it is' }, door))
        expect(same).toMatchObject({
          entry: null,
          record: { [`${made === 'ban' ? 'banned' : 'muted'}_by`]: superior.account },
        })
        await done(act(superior, room, lifted, { target }, door))
      }
    },
    60_000,
  )

test('M06: what somebody of the same or a lower rank has set is lifted, and what a superior set once they are none', async () => {
  const room = await staffed()
  const target = member.account
  for (const [by, lifts] of [
    [moderator, manager],
    [manager, owner],
    [owner, admin],
    [admin, root],
    [moderator, moderator],
  ] as const) {
    await done(act(by, room, 'mute', { target }))
    expect((await done(act(lifts, room, 'unmute', { target }))).entry).not.toBeNull()
  }
  await done(act(manager, room, 'mute', { target }))
  expect((await act(moderator, room, 'unmute', { target })).code).toBe('FORBIDDEN')
  await done(act(owner, room, 'demote', { target: manager.account }))
  await done(act(moderator, room, 'unmute', { target }))
})

test('M06: of an official room, a global moderator stands above those of the room', async () => {
  const [judge, local] = await people(server, 'a judge', 'a local')
  const room = await officialChannel(member)
  await appoint(admin, null, judge, { canMute: true })
  await appoint(admin, room, local, { canMute: true })
  await done(act(judge, room, 'mute', { target: member.account }))
  expect((await act(local, room, 'unmute', { target: member.account })).code).toBe('FORBIDDEN')
  await done(act(judge, room, 'unmute', { target: member.account }))
  await done(act(admin, null, 'demote', { target: judge.account }))
})

test('M06: an admin neither lifts nor takes over what a super admin has suspended', async () => {
  const suspends = (by: Somebody, ban: boolean, reason?: string) =>
    by.call('POST /api/admin/ban', { userAddress: member.account, ban, ...(reason ? { reason } : {}) })
  await done(suspends(root, true, 'as it is'))
  for (const refused of [suspends(admin, false), suspends(admin, true, 'mine now')])
    expect((await refused).status).toBe(403)
  await done(suspends(admin, true, 'as it is'))
  expect((await member.ask('message:send', { room: { type: 'alpha', id: null }, text: 'hello' })).code).toBe(
    'SUSPENDED',
  )
  await done(suspends(root, false))
  await done(suspends(admin, true))
  await done(suspends(admin, false))
})
