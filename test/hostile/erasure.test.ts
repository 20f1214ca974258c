// Modes: embedded
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { KeptRestrictions } from '#server/domains/moderation/moderation/model'
import { Accounts } from '#server/domains/people/accounts/model'
import { Nonces } from '#server/domains/people/identity/model'
import { removeExpired } from '#server/domains/platform/own-data/index'
import { Erasures, type StoredErasure } from '#server/domains/platform/own-data/model'
import { verifyChain } from '#server/log/index'
import { chainedRows } from '#server/log/store'
import { api } from '#shared/api/index'
import { identities } from '#shared/api/people/identities'
import { ownData } from '#shared/api/platform/own-data'
import { messages } from '#shared/api/rooms/messages'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { inThreeDays } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { follow } from '#test/support/line'
import { channelOf, type Door, moderates, over, type Person, people, person, say, sealed } from '#test/support/people'
import { receiver } from '#test/support/receiver'
import { call, connect, heard, signed, wallet } from '#test/support/wallet'
import { webOver } from '#test/support/web'

let server: Booted
let came: Awaited<ReturnType<typeof receiver>>
beforeAll(async () => {
  came = await receiver()
  const admins = ['an admin', 'another admin', 'an admin who goes'] as const
  server = await boot({
    environment: { ERASURE_GRACE_DAYS: '0', ADMINS: admins.map((name) => wallet(name).address).join(',') },
    services: { web: webOver({ 'hooks.test': came.server.port }) },
    entry: 'through the door',
  })
})
afterAll(async () => {
  await server.close()
  await came.server.close()
})

const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 100 })
/** The erasure begins at once, and ends when all nodes have forgotten the account. */
async function erased(who: Person): Promise<void> {
  const _id = (await Accounts.findOne({ _id: who.account }).lean())?.erasure_id ?? ''
  const state = () => Erasures.findOne({ _id }).lean<StoredErasure>()
  await until(async () => expect((await state())?.forgotten_at).toBeTruthy())
  server.setAhead(120)
  await until(async () => expect((await state())?.finished_at).toBeTruthy())
  server.setAhead(0)
}

describe('a deletion is of the caller alone, and leaves nobody a way in', () => {
  test.each(over)('over %s nobody deletes the account of another, by whatever field', async (door) => {
    const [thief, victim] = await people(server, `deletes another ${door}`, `is not deleted ${door}`)
    const named = { messages: 'erase', confirm: victim.account } as const
    expect((await thief.refused(door, ownData.erase, named)).code).toBe('VALIDATION_ERROR')
    for (const field of ['address', 'account', 'userAddress', 'wallet_address', 'sender'])
      await thief.tries(door, ownData.erase, { ...named, [field]: victim.account } as never)
    expect((await call(server.url, 'DELETE /api/account', named)).status).toBe(401)
    expect(await victim.does('rest', ownData.readErasure, {})).toMatchObject({ erased_at: null })
    expect(await Accounts.exists({ _id: thief.account })).not.toBeNull()
  })

  test('a session, a refresh token and an invitation of a deleted account are refused, and a new account has no old power', async () => {
    const [goes, stays, late] = await people(server, 'is deleted', 'is left', 'comes late')
    const room = await channelOf(goes, stays)
    const { token } = await goes.does('rest', api.invitations.create, { room })
    const line = await goes.line('/rooms')
    await say(goes, room, 'last words')
    await goes.does('rest', ownData.erase, { messages: 'unlink', confirm: goes.account })
    await vi.waitFor(() => expect(line.socket.connected).toBe(false), { timeout: 5_000 })
    await erased(goes)
    expect((await goes.rest('GET /api/account/erasure')).status).toBe(401)
    expect((await call(server.url, 'POST /api/auth/session', { refreshToken: goes.refreshToken })).status).toBe(401)
    for (const door of over)
      expect((await late.refused(door, api.invitations.accept, { token })).code).toMatch(/^INVITATION_/)
    const anew = await person(server, 'is deleted')
    const [last] = (await stays.does('rest', messages.history, { room })).messages
    expect((await anew.refused('rest', messages.edit, { room, id: last?.id ?? '', text: 'changed' })).status).toBe(403)
    expect((await anew.refused('rest', api.rooms.archive, { room })).status).toBeGreaterThanOrEqual(403)
  })

  test('the token of a bot, a code and a meeting of a deleted account are refused, and its webhooks get nothing', async () => {
    const [goes, stays, late] = await people(server, 'an admin who goes', 'keeps the room', 'comes by a code')
    const room = await channelOf(goes, stays)
    await goes.does('rest', api.rooms.setRole, { room, address: stays.account, role: 'admin' })
    came.answers.set('/fails', 500)
    const hook = { rooms: [room], kinds: ['message.created' as const] }
    for (const [who, path] of [
      [goes, '/goes'],
      [goes, '/fails'],
      [stays, '/stays'],
    ] as const)
      await who.does('rest', api.webhooks.create, { url: `https://hooks.test${path}`, ...hook })
    const arrives = (path: string, texts: string[]) =>
      expect.poll(() => came.textsAt(path), { timeout: 15_000 }).toEqual(texts)
    const [invite] = (await goes.does('rest', api.invites.list, {})).invites
    const { code: ofAdmins } = await goes.does('rest', api.inviteCodes.create, { maxUses: 0 })
    const { room: meeting } = await goes.does('rest', api.meetings.create, { title: 'Soon' })
    const { inviteToken } = await goes.does('rest', api.booking.createShareable, { scheduledAt: inThreeDays(11) })
    const scopes = ['identity:read', 'messages:write']
    const { token } = await goes.does('rest', api.serviceTokens.create, { name: 'Goes as well', scopes })
    const bot = follow(connect(server.url, '/rooms', token))
    await bot.hears('session:ready')
    await say(stays, room, 'before')
    for (const path of ['/goes', '/fails', '/stays']) await arrives(path, ['before'])

    await goes.does('rest', ownData.erase, { messages: 'unlink', confirm: goes.account })
    await expect.poll(() => bot.socket.connected, { timeout: 60_000 }).toBe(false)
    await erased(goes)
    const tries = came.at('/fails').length
    server.setAhead(3_600)
    await say(stays, room, 'after')
    await arrives('/stays', ['before', 'after'])
    server.setAhead(0)
    expect([came.textsAt('/goes'), came.at('/fails').length]).toEqual([['before'], tries])
    for (const path of ['GET /api/auth/session', 'GET /api/channels'])
      expect(await call(server.url, path, null, token)).toMatchObject({ status: 401, code: 'SESSION_NOT_FOUND' })
    const refusal = { data: { code: 'SESSION_NOT_FOUND' } }
    expect(await heard(connect(server.url, '/rooms', token), 'connect_error')).toMatchObject(refusal)
    for (const door of over) {
      for (const code of [invite?.code ?? '', ofAdmins.code])
        expect((await late.refused(door, api.invites.redeem, { code })).code).toBe('INVALID_INVITE')
      expect((await late.refused(door, api.meetings.get, { code: meeting.joinCode })).code).toBe('ROOM_NOT_FOUND')
      const { call: booked } = await late.does(door, api.booking.invited, { token: inviteToken })
      expect(booked.status).toBe('cancelled')
    }
  })

  test.each(over)('over %s only admins delete others, and admins neither admins nor Plaza itself', async (door) => {
    const [admin, other, user, victim] = await people(server, 'an admin', 'another admin', 'a user', 'a victim')
    const erase = (address: string) => ({ address, reason: 'none' })
    const { address } = erase(victim.account)
    expect((await user.refused(door, ownData.eraseUser, erase(address))).code).toBe('FORBIDDEN')
    expect((await user.refused(door, ownData.exportUser, { address })).code).toBe('FORBIDDEN')
    expect((await admin.refused(door, ownData.eraseUser, erase(other.account))).code).toBe('FORBIDDEN')
    expect((await admin.refused(door, ownData.eraseUser, erase(admin.account))).code).toBe('FORBIDDEN')
    expect((await admin.refused(door, ownData.eraseUser, erase('bot:plaza'))).code).toBe('USER_NOT_FOUND')
    expect((await admin.refused(door, ownData.eraseUser, erase(wallet('nobody').address))).code).toBe('USER_NOT_FOUND')
    const bare = { address, reason: '' }
    expect((await admin.refused(door, ownData.eraseUser, bare)).code).toBe('VALIDATION_ERROR')
    expect(await Accounts.exists({ erased_at: { $exists: true } })).toBeNull()
  })

  test.each(over)('over %s a deletion that has begun is not planned anew', async (door) => {
    const [admin, going] = await people(server, 'an admin', `is being deleted ${door}`)
    await Accounts.updateOne({ _id: going.account }, { $set: { is_erasing: true } })
    const own = { messages: 'erase', confirm: going.account } as const
    expect((await going.refused(door, ownData.erase, own)).code).toBe('CONFLICT')
    const theirs = { address: going.account, reason: 'asked for it' }
    expect((await admin.refused(door, ownData.eraseUser, theirs)).code).toBe('CONFLICT')
    await Accounts.updateOne({ _id: going.account }, { $unset: { is_erasing: '' } })
  })

  test('the sign-ins under way name no wallet that a deleted account was linking', async () => {
    const links = await person(server, 'links wallets')
    const [begun, linked] = [wallet('begun to be linked'), wallet('linked')]
    expect((await links.rest(`GET /api/auth/verify?address=${begun.address}`)).status).toBe(200)
    await links.does('rest', identities.linkWallet, await signed(links.url, linked))
    const address = { $in: [begun, linked].map((one) => one.address.toLowerCase()) }
    expect(await Nonces.countDocuments({ address })).toBe(2)
    await links.does('rest', ownData.erase, { messages: 'unlink', confirm: links.account })
    await erased(links)
    expect(await Nonces.countDocuments({ address })).toBe(0)
  })

  test('who is suspended stays so after a deletion', async () => {
    const suspended = await person(server, 'comes back')
    await Accounts.updateOne({ _id: suspended.account }, { $set: { display_name: 'Comes Back' } })
    await Accounts.updateOne(
      { _id: suspended.account },
      { $set: { is_banned: true, banned_seq: 1, banned_by: 'plaza', banned_at: 1, ban_reason: 'spam' } },
    )
    await suspended.does('rest', ownData.erase, { messages: 'erase', confirm: suspended.account })
    await erased(suspended)
    const left = await Accounts.findOne({ _id: suspended.account }).lean()
    expect(left).toMatchObject({ is_banned: true, ban_reason: 'spam' })
    expect(left?.display_name ?? null).toBeNull()
    expect(left).not.toHaveProperty('erased_at')
  })
})

describe('a deletion ends no ban, mute or block', () => {
  const codesOf = async (door: Door, who: Person, banned: RoomRef, muted: RoomRef, blocker: Person) => {
    const dm = dmOf(who.account, blocker.account)
    const refusals = [
      await who.refused(door, api.rooms.join, { room: banned }),
      await who.refused(door, messages.send, { room: banned, text: 'let me in' }),
      await who.refused(door, messages.send, { room: muted, text: 'let me speak' }),
      await who.refused(door, messages.send, { room: dm, text: sealed() }),
    ]
    return refusals.map(({ code }) => code)
  }

  test.each(over)('over %s who comes back by the same wallet is refused as before', async (door) => {
    const [decides, goes] = await people(server, `decides ${door}`, `is banned ${door}`)
    const [banned, muted] = [await channelOf(decides, goes), await channelOf(decides, goes)]
    const target = goes.account
    await moderates(decides, { action: 'ban', target, room: banned, reason: 'A text about the person' })
    await moderates(decides, { action: 'mute', target, room: muted, duration: '24h' })
    await decides.does('rest', api.social.block, { userAddress: target, reason: 'A text about the person' })
    const refused = ['BANNED', 'BANNED', 'MUTED', 'BLOCKED']
    expect(await codesOf(door, goes, banned, muted, decides)).toEqual(refused)

    await goes.does(door, ownData.erase, { messages: 'erase', confirm: target })
    await erased(goes)
    const kept = await KeptRestrictions.find({}).lean()
    expect(kept.map(({ kind }) => kind).sort()).toEqual(['ban', 'block', 'mute'])
    expect(JSON.stringify(kept)).not.toMatch(new RegExp(`${target}|A text about`, 'i'))

    const anew = await person(server, `is banned ${door}`)
    await anew.does(door, api.rooms.join, { room: muted })
    expect(await codesOf(door, anew, banned, muted, decides)).toEqual(refused)
    expect(await KeptRestrictions.countDocuments({})).toBe(0)
    const entries = await chainedRows(roomKey(banned), {}, 100, 1)
    expect(entries.find((row) => row.target === target)).toMatchObject({ sender: 'plaza', reason: null })
    expect(verifyChain(entries, '')).toBeNull()

    await moderates(decides, { action: 'unban', target, room: banned })
    await decides.does('rest', api.social.unblock, { userAddress: target })
    await anew.does(door, api.rooms.join, { room: banned })
    await say(anew, banned, 'let in')
  })

  test('a ban or mute that is over by then does not come back, and is forgotten', async () => {
    const [decides, returns, stays] = await people(server, 'decides for an hour', 'comes back late', 'stays away')
    const [banned, muted] = [await channelOf(decides, returns, stays), await channelOf(decides, returns, stays)]
    for (const { account: target } of [returns, stays]) {
      await moderates(decides, { action: 'ban', target, room: banned, duration: '1h' })
      await moderates(decides, { action: 'mute', target, room: muted, duration: '1h' })
    }
    for (const who of [returns, stays]) {
      await who.does('rest', ownData.erase, { messages: 'unlink', confirm: who.account })
      await erased(who)
    }
    expect(await KeptRestrictions.countDocuments({})).toBe(4)
    server.setAhead(7_200)
    const anew = await person(server, 'comes back late')
    for (const room of [banned, muted]) {
      await anew.does('rest', api.rooms.join, { room })
      await say(anew, room, 'here again')
    }
    expect(await KeptRestrictions.countDocuments({})).toBe(2)
    const [{ node } = { node: null }] = server.apps
    if (node) await removeExpired(node)
    expect(await KeptRestrictions.countDocuments({})).toBe(0)
    server.setAhead(0)
  })
})

test('one address begins few deletions an hour, over both doors', async () => {
  // A process has one store, so the other server ends first. This test is the last one.
  await server.close()
  server = await boot({ environment: { RATE_LIMIT_SCALE: '0.2' }, entry: 'through the door' })
  const [first, second, third] = await people(server, 'goes first', 'goes second', 'goes third')
  const confirmed = ({ account: confirm }: Person) => ({ messages: 'unlink', confirm }) as const
  expect((await third.refused('rest', ownData.erase, { messages: 'unlink', confirm: 'nobody' })).code).toBe(
    'VALIDATION_ERROR',
  )
  for (const who of [first, second]) await who.does('rest', ownData.erase, confirmed(who))
  for (const door of over) {
    const refusal = await third.refused(door, ownData.erase, confirmed(third))
    expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', status: 429 })
  }
  expect(await third.does('rest', ownData.readErasure, {})).toMatchObject({ erased_at: null })
})
