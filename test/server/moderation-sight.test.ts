import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import {
  act,
  alpha,
  appoint,
  channelOf,
  done,
  type Grants,
  officialChannel,
  type Place,
  people,
  type Somebody,
  say,
} from '#test/support/community'
import { wallet } from '#test/support/wallet'

let server: Booted
let admin: Somebody
let otherAdmin: Somebody
let root: Somebody
let owner: Somebody
let member: Somebody

beforeAll(async () => {
  const ADMINS = [wallet('admin').address, wallet('other admin').address].join(',')
  server = await boot({ environment: { ADMINS, SUPER_ADMINS: wallet('root').address } })
  ;[admin, otherAdmin, root, owner, member] = await people(server, 'admin', 'other admin', 'root', 'owner', 'member')
})
afterAll(() => server.close())

const every: Grants = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
const queryOf = ({ type, id }: Place) => `chatType=${type}&chatId=${id ?? ''}`
const idOf = ({ type, id }: Place) => (type === 'alpha' ? 'global' : id)

/** Every way to read what moderators alone may read of a place, or of all of them, over both doors. */
function reads(who: Somebody, place: Place | null): Record<string, () => ReturnType<Somebody['call']>> {
  const of = place ? `&chatType=${place.type}&channelId=${idOf(place)}` : ''
  const channel = place ? `channelId=${idOf(place)}` : ''
  const everywhere = {
    log: () => who.call(`GET /api/moderation?action=mod-log${of}`),
    verify: () => who.call(`GET /api/moderation/verify?${channel}`),
    queue: () => who.call(`GET /api/moderation/queue?${channel}`),
    subscribe: () =>
      who.ask('mod:subscribe', place ? { scope: 'room', room: place } : { scope: 'global' }, '/moderation'),
    words: () => who.call(`GET /api/blocked-words?scope=${place ? `room&${queryOf(place)}` : 'global'}`),
  }
  if (!place) return everywhere
  return {
    ...everywhere,
    muted: () => who.call(`GET /api/moderation?action=muted${of}`),
    bans: () => who.call(`GET /api/chat-rules/ban?${queryOf(place)}`),
    simulate: () => who.call('POST /api/moderation/simulate', { room: place, word: 'sprout', last: 10 }),
    'a mute': () => who.call(`GET /api/moderation?action=check-muted&userAddress=${member.account}${of}`),
    'a ban': () => who.call(`GET /api/chat-rules/ban?${queryOf(place)}&action=check&userAddress=${member.account}`),
  }
}

const permissionsOf = ({ account }: Somebody, place: Place | null) =>
  `GET /api/moderation?action=permissions&userAddress=${account}${place ? `&channelId=${idOf(place)}` : ''}`

/** What is shown to somebody, by way of reading: nothing of a list counts as refused. */
async function shown(who: Somebody, place: Place | null): Promise<string[]> {
  const found: string[] = []
  for (const [name, read] of Object.entries(reads(who, place))) {
    const { status, body } = await read()
    const isEmpty = Array.isArray(body.words) && body.words.length === 0
    if (status === 200 && !isEmpty) found.push(name)
  }
  return found
}

describe('R2: who is suspended or banned reads nothing that is for moderators', () => {
  const suspend = (who: Somebody, ban: boolean) =>
    done(root.call('POST /api/admin/ban', { userAddress: who.account, ban }))

  test('a suspended moderator, of whatever rank', async () => {
    const [head, roomAdmin, manager, judge] = await people(server, 'head', 'room admin', 'manager', 'a judge')
    const room = await channelOf(head, roomAdmin, manager, member)
    const official = await officialChannel(judge, member)
    await done(head.call(`PATCH /api/channels/${room.id}/members/${roomAdmin.account}/role`, { role: 'admin' }))
    await appoint(head, room, manager, every)
    await appoint(admin, null, judge, every)
    for (const place of [room, official, alpha, null])
      await done(act(admin, place, 'word_add', { patch: { word: `leek${place?.id ?? place?.type ?? ''}` } }))
    const cast: [string, Somebody, (Place | null)[]][] = [
      ['owner', head, [room]],
      ['room admin', roomAdmin, [room]],
      ['manager', manager, [room]],
      ['global moderator', judge, [official, alpha, null]],
      ['admin', otherAdmin, [room, official, alpha, null]],
    ]
    for (const [rank, who, places] of cast)
      for (const place of places) {
        const ways = Object.keys(reads(who, place))
        expect({ rank, place, shown: await shown(who, place) }).toEqual({ rank, place, shown: ways })
        await suspend(who, true)
        expect({ rank, place, shown: await shown(who, place) }).toEqual({ rank, place, shown: [] })
        const { permissions } = await done(member.call(permissionsOf(who, place)))
        expect(Object.values(permissions as object).filter(Boolean)).toEqual([])
        await suspend(who, false)
      }
    await done(act(root, null, 'demote', { target: judge.account }))
  }, 120_000)

  test('a global moderator who is banned in an official room, of that room', async () => {
    const [judge] = await people(server, 'a banned judge')
    await appoint(admin, null, judge, every)
    for (const place of [await officialChannel(judge, member), alpha]) {
      await done(act(admin, place, 'word_add', { patch: { word: `chard${place.id ?? ''}` } }))
      expect(await shown(judge, place)).toEqual(Object.keys(reads(judge, place)))
      await done(act(admin, place, 'ban', { target: judge.account }))
      expect(await shown(judge, place)).toEqual([])
      await done(act(admin, place, 'unban', { target: judge.account }))
    }
    await done(act(root, null, 'demote', { target: judge.account }))
  })

  test('a suspended global moderator does not read a closed official room by their rank', async () => {
    const [judge] = await people(server, 'a suspended judge')
    await appoint(admin, null, judge, every)
    const room = await officialChannel(member)
    await say(member, room, 'hello there')
    await done(act(admin, room, 'rules', { patch: { rules: { read_access: 'members' } } }))
    expect((await judge.call(`GET /api/rooms/channel/${room.id}/messages`)).status).toBe(200)
    await suspend(judge, true)
    expect((await judge.call(`GET /api/rooms/channel/${room.id}/messages`)).code).toBe('NOT_A_MEMBER')
    await suspend(judge, false)
    await done(act(root, null, 'demote', { target: judge.account }))
  })
})
