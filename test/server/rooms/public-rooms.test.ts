// Modes: embedded
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { fakeChain } from '#server/ports/chain/fake'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, groupOf, moderates, type Person, person, say } from '#test/support/people'
import { call } from '#test/support/wallet'

const chain = fakeChain(8453)
const token = `0x${'7a'.repeat(20)}` as const
let server: Booted
let owner: Person

beforeAll(async () => {
  server = await boot({ services: { chains: new Map([[8453, chain]]) } })
  owner = await person(server, 'public rooms: owner')
  chain.deploy(token, { token: { name: 'Heron', symbol: 'HRN', decimals: 2, owner: owner.account as Hex } })
})
afterAll(() => server.close())

const elsewhere = { origin: 'https://elsewhere.example' }
const card = (path: string, token?: string, headers = {}) =>
  call(server.url, `GET /api/public/${path}`, null, token, headers)
const holders = async () => {
  const asked = { tokenAddress: token, tokenChainId: 8453, name: 'Holders' }
  return (await owner.does('rest', rooms.createTokenRoom, asked)).room
}

describe('the card of a channel', () => {
  test('is there for everybody, by its id and its slug, with what it says of itself alone', async () => {
    const made = { name: 'A public room', description: 'For all', slug: 'a-public-room', emoji: '🌳' }
    const { channel } = await owner.does('rest', rooms.createChannel, made)
    await say(owner, { type: 'channel', id: channel.id }, 'Hello')
    const { status, body, headers } = await card(`channels/${channel.id}`, undefined, elsewhere)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(body).toEqual({
      channel: {
        ...{ id: channel.id, ...made, icon_url: null, category: 'general', is_official: false },
        ...{ member_count: 1, message_count: 1, created_at: channel.created_at },
        ...{ attendance_event_id: null, attendance_event_name: null },
        ...{ poap_event_id: null, poap_event_name: null },
      },
    })
    expect((await card('channels/a-public-room')).body).toEqual(body)
  })

  test('is the same whoever asks', async () => {
    const room = await channelOf(owner)
    expect((await card(`channels/${room.id}`, owner.token)).body).toEqual((await card(`channels/${room.id}`)).body)
  })

  test('of the room of everybody is that of `global`', async () => {
    expect((await card('channels/global')).body.channel).toMatchObject({ id: 'global', name: 'Alpha' })
  })
})

test('the card of a room for holders says what it asks, and nothing of its people', async () => {
  const { id } = await holders()
  const { status, body } = await card(`token-chats/${id}`)
  expect([status, body.chat]).toMatchObject([
    200,
    { id, name: 'Holders', token_symbol: 'HRN', min_balance: '1', created_by: null, member_count: 1 },
  ])
  expect(body.chat).not.toHaveProperty('is_member')
  expect(JSON.stringify(body)).not.toContain(owner.account)
})

describe('there is no card, for whoever founded it neither, of', () => {
  const hidden: [what: string, path: () => Promise<string>][] = [
    ['a room that is not there', async () => 'channels/0195c2de-0000-7abc-8def-0123456789ab'],
    ['a slug that nobody has', async () => 'channels/nobody-has-this'],
    ['a group', async () => `channels/${(await groupOf(owner)).id}`],
    ['a channel as a room for holders', async () => `token-chats/${(await channelOf(owner)).id}`],
    [
      'a channel for members',
      async () => {
        const room = await channelOf(owner)
        await moderates(owner, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
        return `channels/${room.id}`
      },
    ],
    [
      'a channel for those who are signed in',
      async () => {
        const room = await channelOf(owner)
        await moderates(owner, { room, action: 'rules', patch: { rules: { read_access: 'signed_in' } } })
        return `channels/${room.id}`
      },
    ],
    [
      'a room of the staff',
      async () => {
        const id = crypto.randomUUID()
        const at = new Date().toISOString()
        const fields = {
          type: 'channel',
          id,
          name: `Staff ${id}`,
          emoji: '🔒',
          category: 'general',
          access_level: 'staff',
        }
        await Rooms.create({ _id: `channel:${id}`, ...fields, created_at: at, updated_at: at })
        return `channels/${id}`
      },
    ],
    [
      'an archived channel',
      async () => {
        const room = await channelOf(owner)
        await owner.does('rest', rooms.archive, { room })
        return `channels/${room.id}`
      },
    ],
  ]
  test.each(hidden)('%s', async (_what, path) => {
    const asked = await path()
    for (const token of [undefined, owner.token]) {
      const { status, code } = await card(asked, token)
      expect([asked, status, code]).toEqual([asked, 404, 'ROOM_NOT_FOUND'])
    }
  })
})
