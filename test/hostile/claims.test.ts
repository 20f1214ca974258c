// Modes: embedded
import { beforeAll, describe, expect, test } from 'vitest'
import { fakeChain } from '#server/ports/chain/fake'
import { fakeMeetings } from '#server/ports/meetings/fake'
import { fakeVideo } from '#server/ports/video/fake'
import { agents } from '#shared/api/agents/agents'
import { booking } from '#shared/api/meetings/booking'
import { meetings } from '#shared/api/meetings/meetings'
import { scheduling } from '#shared/api/meetings/scheduling'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { streams } from '#shared/api/streams/streams'
import type { RoomRef } from '#shared/kit/primitives'
import { bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { bootWith } from '#test/support/boot-with'
import type { JudgedName } from '#test/support/judged-names'
import { type Answer, channelOf, outcomeOf, type Person, say, sealed } from '#test/support/people'

const chain = fakeChain(8_453)
const token = `0x${'7a'.repeat(20)}` as const
chain.deploy(token, { token: { name: 'Fox', symbol: 'FOX', decimals: 18, owner: null } })
const services = { chains: new Map([[chain.id, chain]]), meetings: fakeMeetings(), video: fakeVideo() }
const { server, mallory } = await bootWith(['mallory'], {
  environment: { BETA: 'open', MAIL_URL: 'captured' },
  services,
})

let host: Person
let room: RoomRef & { id: string }
let message: string
let direct: string
let agent: string
let stream: string
let code: string
beforeAll(async () => {
  host = await bookable(server, 'host of claims')
  await openAlways(host)
  room = await channelOf(mallory)
  message = (await say(mallory, room, 'Hello')).id
  const toHost = { recipientAddress: host.account, encryptedContent: sealed() }
  direct = (await mallory.does('rest', messages.directSend, toHost)).message.message_id
  agent = (await mallory.does('rest', agents.create, { name: 'Heron' })).agent.id
  stream = (await mallory.does('rest', streams.create, { title: 'Morning' })).stream.id
  code = (await mallory.does('rest', meetings.create, { title: 'Tea' })).room.joinCode
})

let made = 0
const name = () => `Kite ${++made}`
const slot = () => ({ recipientAddress: host.account, scheduledAt: inThreeDays(9) })
const here = { userLat: 10, userLng: 20 }
const ofToken = { tokenAddress: token, tokenChainId: chain.id, minBalance: '1' }

/** How each of these names is given. */
const gives: Readonly<Record<JudgedName, (said: string) => Promise<Answer>>> = {
  'accounts.updateProfile.display_name': (said) =>
    mallory.tries('rest', accounts.updateProfile, { display_name: said }),
  'accounts.updateProfile.status_text': (said) => mallory.tries('rest', accounts.updateProfile, { status_text: said }),
  'agents.create.name': (said) => mallory.tries('rest', agents.create, { name: said }),
  'agents.create.tags[]': (said) => mallory.tries('rest', agents.create, { name: name(), tags: ['kites', said] }),
  'agents.update.name': (said) => mallory.tries('rest', agents.update, { id: agent, name: said }),
  'agents.update.tags[]': (said) => mallory.tries('rest', agents.update, { id: agent, tags: [said] }),
  'booking.createShareable.title': (said) =>
    mallory.tries('rest', booking.createShareable, { scheduledAt: inThreeDays(11), title: said }),
  'booking.schedule.guestName': (said) =>
    mallory.tries('rest', booking.schedule, { ...slot(), ...guestOf('Ann'), guestName: said }),
  'booking.schedule.schedulerName': (said) =>
    mallory.tries('rest', booking.schedule, {
      ...slot(),
      ...guestOf('Ann'),
      guestName: undefined,
      schedulerName: said,
    }),
  'booking.schedule.title': (said) => mallory.tries('rest', booking.schedule, { ...slot(), title: said }),
  'meetings.create.title': (said) => mallory.tries('rest', meetings.create, { title: said }),
  'meetings.token.displayName': (said) => mallory.tries('rest', meetings.token, { code, displayName: said }),
  'messages.directReact.emoji': (said) => mallory.tries('rest', messages.directReact, { id: direct, emoji: said }),
  'messages.react.emoji': (said) =>
    mallory.tries('socket', messages.react, { room, id: message, emoji: said, on: true }),
  'rooms.createChannel.category': (said) =>
    mallory.tries('rest', rooms.createChannel, { name: name(), category: said }),
  'rooms.createChannel.name': (said) => mallory.tries('rest', rooms.createChannel, { name: said }),
  'rooms.createGroup.name': (said) => mallory.tries('rest', rooms.createGroup, { name: said, memberAddresses: [] }),
  'rooms.createLocationRoom.name': (said) => mallory.tries('rest', rooms.createLocationRoom, { ...here, name: said }),
  'rooms.createTokenRoom.name': (said) => mallory.tries('rest', rooms.createTokenRoom, { ...ofToken, name: said }),
  'rooms.setTopic.topic': (said) => mallory.tries('rest', rooms.setTopic, { room, topic: said }),
  'rooms.update.category': (said) => mallory.tries('rest', rooms.update, { room, category: said }),
  'rooms.update.name': (said) => mallory.tries('rest', rooms.update, { room, name: said }),
  'scheduling.configure.scheduling_title': (said) =>
    host.tries('rest', scheduling.configure, { scheduling_title: said }),
  'streams.change.title': (said) => mallory.tries('rest', streams.change, { id: stream, title: said }),
  'streams.create.title': (said) => host.tries('rest', streams.create, { title: said }),
}

describe.each(Object.entries(gives))('O09: %s', (_field, give) => {
  test.each(['Official Plaza', 'Plaza staff', '✓ Plaza', 'staff\u202e', 'a\nb'])('is not %j', async (said) => {
    expect(outcomeOf(await give(said))).toMatch(/^400 (VALIDATION_ERROR|AGENT_NAME_RESERVED|INVALID_PARAMETER)$/)
  })
})

describe.each([
  'agents.create.tags[]',
  'agents.update.tags[]',
  'rooms.createChannel.category',
  'rooms.update.category',
] as const)('O09: a label beside a name, %s,', (field) => {
  test.each(['⭐ADMIN', 'Moderator', 'The Admins', 'Verified', 'м0derator'])('is not %j', async (said) => {
    expect(outcomeOf(await gives[field](said))).toBe('400 VALIDATION_ERROR')
  })
})

test('O09: a tag, a title and a reaction are words as ever', async () => {
  const tags = ['support', 'admin tools', 'kites']
  expect((await mallory.does('rest', agents.update, { id: agent, tags })).agent.tags).toEqual(tags)
  await host.does('rest', scheduling.configure, { scheduling_title: 'Tea with support' })
  for (const emoji of ['✅', '👍', 'ok', '+1', '音'])
    expect((await mallory.does('rest', messages.react, { room, id: message, emoji, on: true })).on).toBe(true)
})
