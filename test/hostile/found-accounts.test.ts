// Modes: embedded
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Accounts, Phones } from '#server/domains/people/accounts/model'
import { objectsIn } from '#server/kernel/invoke'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { fakeIssues } from '#server/ports/issues/fake'
import { fakePrices } from '#server/ports/prices/fake'
import { type FakeVideo, fakeVideo } from '#server/ports/video/fake'
import { api } from '#shared/api/index'
import { ownData } from '#shared/api/platform/own-data'
import { type Operation, operationsOf, scopeOf } from '#shared/kit/contract'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { guestOf, inThreeDays, openAlways, verifyEmail } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import {
  befriend,
  channelOf,
  groupOf,
  moderates,
  outcomeOf,
  over,
  type Person,
  people,
  person,
  say,
  sealed,
} from '#test/support/people'
import { wallet } from '#test/support/wallet'
import { place, restTargets, type samples, socketTargets } from './generator.ts'

const [displayName, username, slug, number] = ['Gwendolin Ghostly', 'gwendolin_g', 'gwens-page', '+15005550004']

let server: Booted
let video: FakeVideo
let gwen: Person
let friend: Person
let stranger: Person
let asker: Person
let askedFor: Person
let root: Person
let places: Record<string, RoomRef>
/** What names the things of the account that leaves, by the field, or by the word before it in the path. */
let known: Record<string, unknown>
/** The account's invitation of the stranger into its group. */
let invited: { id: string }
/** The tokens of its calls: one that it offers to everybody, and one that somebody has booked. */
let links: { offered: string; booked: string }

beforeAll(async () => {
  video = fakeVideo()
  server = await boot({
    environment: { BETA: 'open', RATE_LIMIT_SCALE: '100', SUPER_ADMINS: wallet('found root').address },
    services: { video, issues: fakeIssues(), calendars: fakeCalendars(), prices: fakePrices() },
    entry: 'through the door',
  })
  ;[gwen, friend, stranger, asker, askedFor, root] = await people(
    server,
    ...(['gwen', 'found friend', 'found stranger', 'found asker', 'found asked', 'found root'] as const),
  )
  await prepare()
}, 120_000)
afterAll(() => server.close())

/** The account has something in every domain that shows people. */
async function prepare(): Promise<void> {
  await gwen.does('rest', api.accounts.claimUsername, { username })
  const profile = { display_name: displayName, bio: 'Here', public_landing_enabled: true, findable_by_phone: true }
  await gwen.does('rest', api.accounts.updateProfile, profile)
  await Accounts.updateOne({ _id: gwen.account }, { $set: { points: 1_000 } })
  await befriend(gwen, friend)
  await asker.does('rest', api.friends.request, { toAddress: gwen.account })
  const { request } = await gwen.does('rest', api.friends.request, { toAddress: askedFor.account })
  await friend.does('rest', api.friends.tag, { friendAddress: gwen.account, tag: 'Tea' })
  const [channel, own] = [await channelOf(friend, gwen, stranger), await channelOf(gwen, friend, stranger)]
  const [group, ours] = [await groupOf(friend, gwen), await groupOf(friend, stranger)]
  await moderates(friend, { action: 'promote', target: gwen.account, room: channel })
  await gwen.does('rest', api.rooms.createGroup, {
    name: 'Of both',
    memberAddresses: [stranger.account],
  })
  const { invitations } = await stranger.does('rest', api.groupInvitations.list, {})
  invited = { id: invitations[0]?.id ?? 'none' }
  await friend.does('rest', api.rooms.setRole, { room: group, address: gwen.account, role: 'moderator' })
  const message = await say(gwen, channel, 'What is found')
  const dm = dmOf(gwen.account, friend.account)
  await say(gwen, dm, sealed())
  const { poll } = await gwen.does('rest', api.polls.create, { room: channel, question: 'Tea?', options: ['a', 'b'] })
  await gwen.does('rest', api.polls.vote, { room: channel, pollId: poll.id, optionIndex: 1 })
  await friend.does('rest', api.stars.add, { messageId: message.id, messageType: 'channel', channelId: channel.id })
  const here = { userLat: 10, userLng: 20, name: 'A place' }
  const { room: place } = await gwen.does('rest', api.rooms.createLocationRoom, here)
  const location = { type: 'location', id: place.id } as const
  await friend.does('rest', api.rooms.join, { room: location, position: { latitude: 10, longitude: 20 } })
  const { agent } = await gwen.does('rest', api.agents.create, {
    name: 'An agent to be found',
    visibility: 'public',
    publicAccessEnabled: true,
  })
  await friend.does('rest', api.agents.addFavorite, { agentId: agent.id })
  const { stream } = await gwen.does('rest', api.streams.create, { title: 'On air' })
  video.publish(stream.stream_id)
  await vi.waitFor(async () => {
    expect((await gwen.does('rest', api.streams.get, { id: stream.id })).stream.status).toBe('live')
  }, 10_000)
  await verifyEmail(server, gwen, 'gwendolin@example.test')
  await gwen.does('rest', api.scheduling.configure, { scheduling_enabled: true, scheduling_slug: slug })
  await openAlways(gwen)
  const { room: meeting } = await gwen.does('rest', api.meetings.create, { title: 'A meeting' })
  const invitation = await gwen.does('rest', api.invitations.create, { room: own })
  const slot = { recipientAddress: gwen.account, scheduledAt: inThreeDays(9) }
  const booked = await friend.does('rest', api.booking.schedule, { ...slot, ...guestOf('Found friend') })
  const shared = await gwen.does('rest', api.booking.createShareable, { scheduledAt: inThreeDays(11), title: 'Tea' })
  links = { offered: shared.inviteToken, booked: booked.invite_token }
  const verified = { phone_number: number, phone_hash: 'hash', verified: true, updated_at: new Date() }
  await Phones.create({ _id: gwen.account, ...verified })
  await gwen.does('rest', api.calls.start, { calleeAddress: friend.account, callType: 'audio', status: 'missed' })
  await friend.does('rest', api.contactNotes.write, { targetAddress: gwen.account, notes: 'Likes tea' })
  places = { channel, own, group, dm, location, ours }
  known = {
    ...{ agentId: agent.id, streamId: stream.id, channelId: channel.id, groupId: group.id, pollId: poll.id },
    ...{ dmId: dm.id, 'location-chatId': location.id, messageId: message.id, messageIds: message.id },
    ...{ stream_id: stream.id, code: meeting.joinCode, token: invitation.token },
    ...{ search: 'gwen', query: 'found', phone: number, requestId: request.id },
    ...{ scheduleId: username, calId: slug, joinId: shared.inviteToken },
  }
}

type Reader = Person | null

/** Whom a field may name: the account, as an id or by its name. */
const isAboutPeople = (field: string) => /address|wallet|peer|^account|identifier/i.test(field)

type Read = (typeof reads)[number]

/** They ask by POST. */
const asking: readonly string[] = ['phone.lookup', 'phone.friends', 'messages.presenceOf', 'deviceKeys.of']
const reads = operationsOf(api).filter(
  ({ name, operation }) =>
    operation.access !== 'admin' && (scopeOf({ name, operation } as never).endsWith(':read') || asking.includes(name)),
)
/** The first path of an operation; none where it is open over a socket alone. */
const targetOf = (name: string) => restTargets.find((one) => one.name === name && !one.fixed)

function inputsOf({ name, operation }: Read, reader: Reader): Record<string, unknown>[] {
  const { path: route, schema: asked } = targetOf(name) ?? { path: '', schema: operation.input }
  const fill = (room: RoomRef, more: 'plain' | 'sought') =>
    objectsIn(asked).map(({ shape }) =>
      Object.fromEntries(
        Object.entries(shape).flatMap(([field, type]) => {
          const schema = type as Parameters<typeof samples>[0]
          const noun = (new RegExp(`([\\w-]+)/:${field}\\b`).exec(route)?.[1] ?? '').replace(/s$/, '')
          const callers = (schema as { meta(): Record<string, unknown> | undefined }).meta()?.['names-caller']
          const may = schema.safeParse(undefined).success
          const candidates = callers
            ? [reader?.account]
            : field === 'room'
              ? [room]
              : [
                  ...(isAboutPeople(field) ? [gwen.account, [gwen.account]] : []),
                  ...(may ? [] : [known[`${noun}Id`]]),
                  ...(more === 'sought' || !may ? [known[field]] : []),
                  ...(may ? [] : [username, gwen.account, [gwen.account], room.id, 1, true]),
                ]
          const found = candidates.find((one) => one !== undefined && schema.safeParse(one).success)
          return found === undefined ? [] : [[field, found]]
        }),
      ),
    )
  const rooms = objectsIn(asked).some(({ shape }) => 'room' in shape)
    ? ([places.channel, places.own, places.group, places.dm, places.location] as RoomRef[])
    : [places.channel as RoomRef]
  const all = rooms.flatMap((room) => [...fill(room, 'plain'), ...fill(room, 'sought')])
  return [...new Map(all.map((input) => [JSON.stringify(input), input])).values()]
}

async function answerOf(reader: Reader, { name, operation }: Read, input: object): Promise<string> {
  const target = targetOf(name)
  if (!target) {
    const { namespace = '', event = '' } = socketTargets.find((one) => one.name === name) ?? {}
    return reader ? JSON.stringify(await reader.ask(event, input, namespace)) : ''
  }
  const { path, body } = place(target, input as Record<string, unknown>)
  const signal = AbortSignal.timeout(operation.stream ? 300 : 10_000)
  const response = await fetch(server.url + path, {
    method: target.method,
    headers: {
      ...(reader && { authorization: `Bearer ${reader.token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal,
  }).catch(() => null)
  if (response?.status !== 200) return ''
  return response.text().catch(() => '')
}

const needles = [wallet('gwen').address, displayName, username, slug, number].map((one) => one.toLowerCase())
/** What is answered where a question names the account, and says nothing of it. */
const isEcho = (text: string, needle: string, input: object): boolean =>
  JSON.stringify(input).toLowerCase().includes(needle) &&
  (text.match(/[\w-]+/g) ?? []).filter((word) => word === needle).length === 1 &&
  needles.every((other) => other === needle || !text.includes(other))

/** The reads that show the account to one of these readers. What a question names itself does not count. */
async function shownBy(asked: readonly Read[]): Promise<string[]> {
  const found = new Set<string>()
  for (const read of asked)
    for (const [who, reader] of Object.entries({ friend, asker, asked: askedFor, guest: null }))
      for (const input of isOfRequests(who) && !read.name.startsWith('friends.') ? [] : inputsOf(read, reader)) {
        const text = (await answerOf(reader, read, input)).toLowerCase()
        const isShown = needles.some((needle) => text.includes(needle) && !isEcho(text, needle, input))
        if (isShown) found.add(read.name)
      }
  return [...found].sort()
}
const isOfRequests = (who: string) => who.startsWith('ask')

/** Still shown, by why. */
const stillShown: Readonly<Record<string, string>> = {
  'booking.calls': 'a call that both have agreed on',
  'calls.list': 'what both have done',
  'identity.begin': 'the text to sign, which repeats the address of the question',
  'identity.beginAdmin': 'the text to sign, which repeats the address of the question',
  'inbox.directPreviews': 'a conversation with messages',
  'inbox.list': 'a conversation with messages, and owners of rooms',
  'inbox.locationChats': 'a room names its owner',
  'invitations.read': 'a link, to members of its room alone',
  'messages.history': 'senders of messages',
  'messages.search': 'senders of messages',
  'messages.sync': 'senders of messages',
  'moderation.queue': 'the log of moderation',
  'polls.list': 'senders of messages',
  'polls.voters': 'votes in messages',
  'rooms.get': 'a room names its owner',
  'rooms.list': 'a room names its owner',
  'rooms.listLocationRooms': 'a room names its owner',
  'rooms.locationRoom': 'a room names its owner',
  'stars.list': 'senders of messages',
}

const unknown = `0x${'5e'.repeat(20)}`
const callKinds = { callType: 'audio', status: 'ringing' } as const
/** How somebody begins something with an account. */
const contacts: readonly [what: string, Operation, who: () => Person, (address: string) => object][] = [
  ['opens a conversation', api.rooms.openDm, () => stranger, (recipientAddress) => ({ recipientAddress })],
  [
    'writes first',
    api.messages.send,
    () => stranger,
    (address) => ({ room: dmOf(stranger.account, address), text: sealed() }),
  ],
  [
    'asks for a verdict first',
    api.messages.check,
    () => stranger,
    (address) => ({ room: dmOf(stranger.account, address), text: sealed() }),
  ],
  ['asks for a friendship', api.friends.request, () => stranger, (toAddress) => ({ toAddress })],
  ['founds a group', api.rooms.createGroup, () => stranger, (one) => ({ name: 'Ours', memberAddresses: [one] })],
  [
    'adds to a group',
    api.rooms.addMembers,
    () => friend,
    (one) => ({ id: (places.ours as { id: string }).id, addresses: [one] }),
  ],
  ['calls', api.calls.start, () => friend, (calleeAddress) => ({ calleeAddress, ...callKinds })],
  ['asks for the permanent room', api.meetings.permanent, () => stranger, (one) => ({ wallet_address: one })],
]
const doorsOf = ({ http, socket }: Operation) => [
  ...(http ? ['rest' as const] : []),
  ...(socket ? ['socket' as const] : []),
]

async function outcomesOf(address: string): Promise<string[]> {
  const outcomes: string[] = []
  for (const [what, operation, who, input] of contacts)
    for (const door of doorsOf(operation))
      outcomes.push(`${what} over ${door}: ${outcomeOf(await who().tries(door, operation, input(address) as never))}`)
  return outcomes
}

const all = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
/** How somebody appoints the account to something. */
async function appointed(): Promise<string[]> {
  const [channel, group, address] = [places.channel as RoomRef, places.group as RoomRef, gwen.account]
  const promoted = (room: RoomRef | null, patch = {}) => ({ action: 'promote', target: address, room, patch }) as const
  const appointments: readonly [what: string, Operation, who: Person, input: object][] = [
    ['moderator of a group', api.moderation.act, friend, promoted(group)],
    ['moderator with all rights', api.moderation.act, friend, promoted(channel, all)],
    ['admin of a channel', api.rooms.setRole, friend, { room: channel, address, role: 'admin' }],
    ['admin of a group', api.rooms.setRole, friend, { room: group, address, role: 'admin' }],
    ['successor in a group', api.rooms.handOver, root, { room: group, address }],
    ['successor in a channel', api.rooms.handOver, root, { room: channel, address }],
    ['moderator everywhere', api.moderation.act, root, promoted(null)],
    ['admin of the installation', api.accounts.grantAdmin, root, { walletAddress: address }],
  ]
  const outcomes: string[] = []
  for (const [what, operation, who, input] of appointments)
    for (const door of doorsOf(operation))
      outcomes.push(`${what} over ${door}: ${outcomeOf(await who.tries(door, operation, input as never))}`)
  return outcomes
}

describe('P26: an account that is to be deleted', () => {
  let before: string[]
  beforeAll(async () => {
    before = await shownBy(reads)
    await gwen.does('rest', ownData.erase, { messages: 'unlink', confirm: gwen.account })
  }, 120_000)

  test('is shown by no read but those that have a reason', { timeout: 120_000 }, async () => {
    expect(before.length).toBeGreaterThan(Object.keys(stillShown).length + 15)
    expect(await shownBy(reads)).toEqual(Object.keys(stillShown).sort())
  })

  test('gets nothing new from others over both doors, as if it did not exist', async () => {
    const outcomes = await outcomesOf(gwen.account)
    expect(outcomes).toEqual(await outcomesOf(unknown))
    expect(outcomes.filter((outcome) => !outcome.endsWith('_NOT_FOUND'))).toEqual([])
    const { invitations } = await stranger.does('rest', api.groupInvitations.list, {})
    expect(invitations).toEqual([])
    const accepted = await askedFor.tries('rest', api.friends.accept, { requestId: known.requestId as string })
    expect(outcomeOf(accepted)).toBe('404 NOT_FOUND')
  })

  test('is appointed by nobody over either door, and loses what it was appointed to', async () => {
    const outcomes = await appointed()
    expect(outcomes.filter((outcome) => !outcome.endsWith('_FOUND'))).toEqual([])
    const [room, address] = [places.group as RoomRef, gwen.account]
    for (const less of [{ canPin: false }, { canPin: false, canMute: false }])
      await moderates(friend, { action: 'promote', target: address, room: places.channel as RoomRef, patch: less })
    await friend.does('rest', api.rooms.setRole, { room, address, role: 'member' })
  })

  test('adds nobody to its group any more by an invitation of before, over either door', async () => {
    for (const door of over)
      expect(outcomeOf(await stranger.tries(door, api.groupInvitations.accept, invited))).toBe('404 NOT_FOUND')
    const { rooms } = await stranger.does('rest', api.inbox.list, { limit: 100 })
    expect(rooms.map(({ name }) => name)).not.toContain('Of both')
  })

  test('offers no call any more over either door, and keeps those that are booked', async () => {
    for (const door of over) {
      const ended = await stranger.tries(door, api.booking.invited, { token: links.offered })
      expect(outcomeOf(ended)).toBe('410 MEETING_ENDED')
      expect(outcomeOf(await stranger.tries(door, api.booking.invited, { token: links.booked }))).toBe('200')
    }
  })

  test('keeps the conversations that it has had', async () => {
    const room = places.dm as RoomRef
    expect((await friend.does('rest', api.messages.history, { room })).messages).toHaveLength(1)
    for (const door of over) {
      expect(outcomeOf(await friend.tries('rest', api.rooms.openDm, { recipientAddress: gwen.account }))).toBe('200')
      await friend.does(door, api.messages.send, { room, text: sealed() })
    }
  })

  test('is shown as before after a sign-in, and may be asked again', { timeout: 120_000 }, async () => {
    await person(server, 'gwen')
    expect(await shownBy(reads.filter(({ name }) => before.includes(name)))).toEqual(before)
    const accepted = await askedFor.tries('rest', api.friends.accept, { requestId: known.requestId as string })
    expect(outcomeOf(accepted)).toBe('200')
    const opened = await stranger.tries('rest', api.rooms.openDm, { recipientAddress: gwen.account })
    expect(outcomeOf(opened)).toBe('200')
    expect(outcomeOf(await stranger.tries('rest', api.groupInvitations.accept, invited))).toBe('200')
    expect((await appointed()).filter((outcome) => !outcome.endsWith(': 200'))).toEqual([])
  })
})
