// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { broadcasts } from '#shared/api/platform/broadcasts'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import {
  befriend,
  type Door,
  groupOf,
  outcomeOf,
  over,
  type Person,
  people,
  person,
  sealed,
} from '#test/support/people'
import { wallet } from '#test/support/wallet'

let server: Booted
let one: Person
let friend: Person
let stranger: Person
let round = 0
beforeAll(async () => {
  server = await boot({ environment: { ADMINS: wallet('announces').address } })
})
afterAll(() => server.close())
beforeEach(async () => {
  round += 1
  ;[one, friend, stranger] = await people(server, `wanted ${round}`, `friend ${round}`, `stranger ${round}`)
  await befriend(friend, one)
})

const permits = (who: Person, change: { messages_from?: 'friends' | 'everyone' | 'nobody'; invites_from?: 'nobody' }) =>
  who.does('rest', accounts.updateProfile, change)
const draftTo = (from: Person, to: Person) => ({ room: dmOf(from.account, to.account), text: sealed() })
const writes = async (from: Person, to: Person, door: Door) =>
  outcomeOf(await from.tries(door, messages.send, draftTo(from, to)))
const checks = async (from: Person, to: Person, door: Door) =>
  outcomeOf(await from.tries(door, messages.check, draftTo(from, to)))
const opens = async (from: Person, to: Person) =>
  outcomeOf(await from.tries('rest', rooms.openDm, { recipientAddress: to.account }))

describe.each(over)('over %s', (door) => {
  test('everyone starts a conversation, unless its owner permits friends or nobody', async () => {
    expect((await one.does('rest', accounts.ownProfile, {})).user).toMatchObject({
      messages_from: 'everyone',
      invites_from: 'everyone',
    })
    await permits(one, { messages_from: 'friends' })
    expect(await writes(stranger, one, door)).toBe('403 FORBIDDEN')
    expect(await checks(stranger, one, door)).toBe('403 FORBIDDEN')
    expect(await opens(stranger, one)).toBe('403 FORBIDDEN')
    expect(await checks(friend, one, door)).toBe('200')
    await permits(one, { messages_from: 'nobody' })
    expect(await opens(friend, one)).toBe('403 FORBIDDEN')
    expect(await stranger.refused(door, messages.send, draftTo(stranger, one))).toMatchObject({
      message: 'This person takes no new conversations',
    })
    await permits(one, { messages_from: 'everyone' })
    expect(await opens(stranger, one)).toBe('200')
    expect(await writes(stranger, one, door)).toBe('200')
  })

  test('a conversation that its owner began, or that has messages, goes on', async () => {
    await permits(one, { messages_from: 'nobody' })
    expect(await writes(one, stranger, door)).toBe('200')
    expect(await writes(stranger, one, door)).toBe('200')
    expect(await opens(stranger, one)).toBe('200')
    await permits(friend, { messages_from: 'everyone' })
    expect(await writes(stranger, friend, door)).toBe('200')
    await permits(friend, { messages_from: 'friends' })
    expect(await writes(stranger, friend, door)).toBe('200')
  })
})

test('nobody is invited or added whose owner permits no invitation, and the group is not made', async () => {
  await permits(one, { invites_from: 'nobody' })
  const group = await groupOf(friend)
  const adding = { id: group.id ?? '', addresses: [one.account] }
  expect(outcomeOf(await friend.tries('rest', rooms.addMembers, adding))).toBe('403 FORBIDDEN')
  const making = { name: `Apart ${round}`, memberAddresses: [one.account] }
  expect(outcomeOf(await friend.tries('rest', rooms.createGroup, making))).toBe('403 FORBIDDEN')
  const { groups } = await friend.does('rest', rooms.groups, {})
  expect(groups.map(({ id }) => id)).toEqual([group.id])
})

test('the setting is its owner’s alone, and takes its three words', async () => {
  const forged = { messages_from: 'everyone', address: one.account } as const
  expect(outcomeOf(await stranger.tries('rest', accounts.updateProfile, forged))).toBe('403 FORBIDDEN')
  for (const field of ['messages_from', 'invites_from'])
    expect(outcomeOf(await one.tries('rest', accounts.updateProfile, { [field]: 'friends of friends' } as never))).toBe(
      '400 VALIDATION_ERROR',
    )
})

test('a broadcast of the service reaches also whoever permits nobody', async () => {
  await permits(one, { messages_from: 'nobody' })
  const admin = await person(server, 'announces')
  const { id } = await admin.does('rest', broadcasts.send, { message: 'Maintenance at noon', target: 'all_users' })
  const sent = async () => {
    const { broadcasts: last } = await admin.does('rest', broadcasts.read, {})
    return last.find((broadcast) => broadcast.id === id)
  }
  await expect.poll(async () => (await sent())?.finished_at, { timeout: 20_000 }).toBeTruthy()
  expect((await sent())?.failed).toBe(0)
})
