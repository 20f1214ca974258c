// Modes: embedded
import { expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { rooms } from '#shared/api/rooms/rooms'
import { dmOf } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { alpha, channelOf, groupOf, moderates, outcomeOf, over, type Person } from '#test/support/people'

const names = ['root', 'admin', 'owner', 'second', 'member', 'outsider', 'banned', 'suspended'] as const
const { root, admin, owner, second, member, outsider, banned, suspended } = await bootWith(names, {
  admins: ['admin'],
  superAdmins: ['root'],
})

test.each([
  ['channel', channelOf],
  ['group', groupOf],
] as const)('O28: a %s is handed over by who runs it alone, and to a member who can run it', async (type, made) => {
  await root.does('rest', accounts.suspend, { userAddress: suspended.account, ban: false })
  const room = await made(owner, second, member, banned, suspended)
  await owner.does('rest', rooms.setRole, { room, address: second.account, role: 'moderator' })
  await moderates(owner, { room, action: 'ban', target: banned.account })
  await root.does('rest', accounts.suspend, { userAddress: suspended.account, ban: true })
  const outcomes = async (by: Person, to: Person) => {
    const answers = await Promise.all(over.map((door) => by.tries(door, rooms.handOver, { room, address: to.account })))
    return [...new Set(answers.map(outcomeOf))]
  }
  const hidden = type === 'group' ? '404 ROOM_NOT_FOUND' : '403 FORBIDDEN'
  for (const [by, to, outcome] of [
    [member, member, '403 FORBIDDEN'],
    [second, second, '403 FORBIDDEN'],
    [member, second, '403 FORBIDDEN'],
    [outsider, member, hidden],
    [admin, member, hidden],
    [banned, member, '403 BANNED'],
    [suspended, member, '403 SUSPENDED'],
    [owner, outsider, '404 NOT_FOUND'],
    [owner, banned, '404 NOT_FOUND'],
    [owner, suspended, '403 FORBIDDEN'],
    [root, outsider, '404 NOT_FOUND'],
    [root, suspended, '403 FORBIDDEN'],
  ] as const)
    expect([by.account, to.account, await outcomes(by, to)]).toEqual([by.account, to.account, [outcome]])
  const { members } = await owner.does('rest', rooms.members, { room })
  const role = type === 'group' ? 'admin' : 'owner'
  expect(members.filter((one) => one.role === role).map(({ user_address }) => user_address)).toEqual([owner.account])
  await owner.does('rest', rooms.archive, { room })
  expect(await outcomes(owner, member)).toEqual(['409 ROOM_ARCHIVED'])
})

test('O28: rooms of the house and conversations of two are handed to nobody', async () => {
  for (const room of [alpha, dmOf(owner.account, member.account)])
    for (const by of [owner, root])
      expect(outcomeOf(await by.tries('rest', rooms.handOver, { room, address: member.account }))).toBe(
        '400 VALIDATION_ERROR',
      )
  const { channel } = await admin.does('rest', rooms.createChannel, { name: 'Of the house', isOfficial: true })
  const room = { type: 'channel', id: channel.id } as const
  await member.does('rest', rooms.join, { room })
  await admin.does('rest', rooms.leave, { room })
  expect((await member.does('rest', rooms.members, { room })).members).toMatchObject([{ role: 'member' }])
})

test('O28: an admin of a group takes no other one out, and makes nobody its owner', async () => {
  const room = await groupOf(owner, second, member)
  await owner.does('rest', rooms.setRole, { room, address: second.account, role: 'admin' })
  const set = (by: Person, who: Person, role: 'owner' | 'admin' | 'member') =>
    by.tries('rest', rooms.setRole, { room, address: who.account, role }).then(outcomeOf)
  expect(await set(second, owner, 'member')).toBe('403 FORBIDDEN')
  expect(await set(second, member, 'owner')).toBe('400 VALIDATION_ERROR')
  expect(await set(member, member, 'admin')).toBe('403 FORBIDDEN')
  await owner.does('rest', rooms.setRole, { room, address: member.account, role: 'moderator' })
  expect(await set(member, outsider, 'admin')).toBe('403 FORBIDDEN')
})
