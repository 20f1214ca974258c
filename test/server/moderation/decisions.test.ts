// Modes: embedded
import { expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, every, officialChannel } from '#test/support/moderation'
import { alpha, channelOf, mayNot, moderates, outcomeOf, over, type Person, people } from '#test/support/people'

const { server, root, admin, owner, roomAdmin, manager, moderator, member } = await bootWith(
  ['root', 'admin', 'owner', 'roomAdmin', 'manager', 'moderator', 'member'],
  { entry: 'in alpha', admins: ['admin'], superAdmins: ['root'] },
)

async function staffed(): Promise<RoomRef & { id: string }> {
  const room = await channelOf(owner, roomAdmin, manager, moderator, member)
  await owner.does('rest', rooms.setRole, { room, address: roomAdmin.account, role: 'admin' })
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
  test.each(over)(
    `M06: nobody lifts or replaces a ${made} that somebody above them has set, over %s`,
    async (door) => {
      const room = await staffed()
      const target = member.account
      const documented = { targetAddress: target }
      const chat = { chatType: 'channel', chatId: room.id }
      for (const [superior, inferiors] of above()) {
        await superior.does(door, moderation.act, { room, action: made, target, duration: '24h', reason: 'as it is' })
        for (const inferior of inferiors) {
          const tries = [
            inferior.tries(door, moderation.act, { room, action: lifted, target }),
            inferior.tries(door, moderation.act, { room, action: made, target, duration: '1h', reason: 'shorter' }),
            inferior.tries(door, moderation.act, {
              room,
              action: made,
              target,
              duration: 'permanent',
              reason: 'mine now',
            }),
            inferior.rest('POST /api/moderation', { ...documented, action: 'unmute-user', channelId: room.id }),
            inferior.rest('POST /api/chat-rules/ban', { ...documented, action: 'unban', ...chat }),
          ]
          const outcomes = (await Promise.all<Parameters<typeof outcomeOf>[0]>(tries)).map(outcomeOf)
          expect(outcomes.filter((outcome) => outcome === '403 FORBIDDEN')).toHaveLength(4)
        }
        const same = await moderator.does(door, moderation.act, {
          room,
          action: made,
          target,
          duration: '24h',
          reason: 'as it is',
        })
        expect(same).toMatchObject({
          entry: null,
          record: { [`${made === 'ban' ? 'banned' : 'muted'}_by`]: superior.account },
        })
        await superior.does(door, moderation.act, { room, action: lifted, target })
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
    await moderates(by, { room, action: 'mute', target })
    expect((await moderates(lifts, { room, action: 'unmute', target })).entry).not.toBeNull()
  }
  await moderates(manager, { room, action: 'mute', target })
  expect((await mayNot(moderator, { room, action: 'unmute', target })).code).toBe('FORBIDDEN')
  await moderates(owner, { room, action: 'demote', target: manager.account })
  await moderates(moderator, { room, action: 'unmute', target })
})

test('M06: of an official room, a global moderator stands above those of the room', async () => {
  const [judge, local] = await people(server, 'a judge', 'a local')
  const room = await officialChannel(member)
  await appoint(admin, null, judge, { canMute: true })
  await appoint(admin, room, local, { canMute: true })
  await moderates(judge, { room, action: 'mute', target: member.account })
  expect((await mayNot(local, { room, action: 'unmute', target: member.account })).code).toBe('FORBIDDEN')
  await moderates(judge, { room, action: 'unmute', target: member.account })
  await moderates(admin, { room: null, action: 'demote', target: judge.account })
})

test('M06: an admin neither lifts nor takes over what a super admin has suspended', async () => {
  const suspend = (by: Person, ban: boolean, reason?: string) =>
    by.tries('rest', accounts.suspend, { userAddress: member.account, ban, reason })
  const suspends = async (...how: Parameters<typeof suspend>) => expect(outcomeOf(await suspend(...how))).toBe('200')
  await suspends(root, true, 'as it is')
  for (const refused of [suspend(admin, false), suspend(admin, true, 'mine now')])
    expect(outcomeOf(await refused)).toBe('403 FORBIDDEN')
  await suspends(admin, true, 'as it is')
  expect((await member.refused('socket', messages.send, { room: alpha, text: 'hello' })).code).toBe('SUSPENDED')
  await suspends(root, false)
  await suspends(admin, true)
  await suspends(admin, false)
})
