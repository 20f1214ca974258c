// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { followUpOlderCalls } from '#server/domains/meetings/booking/book'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { PushBrowsers, PushPreferences } from '#server/domains/platform/push/model'
import { keepPushKey } from '#server/ports/database/port'
import { fakePush } from '#server/ports/push/fake'
import { newPrivateKey, publicKeyOf } from '#server/ports/push/port'
import { booking } from '#shared/api/meetings/booking'
import { calls } from '#shared/api/meetings/calls'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { friends } from '#shared/api/people/friends'
import { push as contract } from '#shared/api/platform/push'
import { unreadSnapshot } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { befriend, channelOf, groupOf, type Person, people, person, personAt, sealed } from '#test/support/people'
import { pushBrowser } from '#test/support/push-browser'
import { solo } from '#test/support/solo'
import { call } from '#test/support/wallet'

const push = fakePush()
/** Guards are as many times as high here; see `test/support/boot.ts`. */
const scale = 8
const { server, root } = await bootWith(['root'], {
  superAdmins: ['root'],
  services: { push },
  environment: { RATE_LIMIT_SCALE: String(scale) },
})

let one: Person
let two: Person
let round = 0
beforeEach(async () => {
  server.setAhead(0)
  push.moods.clear()
  round += 1
  ;[one, two] = await people(server, `pushing ${round}`, `pushed ${round}`)
})

let made = 0
const newBrowser = () => pushBrowser(`https://push.test/${++made}`)
/** Has a new browser of somebody told; gives its endpoint. */
async function subscribes(who: Person, browser = newBrowser()): Promise<string> {
  await who.does('rest', contract.subscribe, { subscription: browser.asJson })
  return browser.subscription.endpoint
}
const givenAt = (endpoint: string) => push.sent.filter((one) => one.endpoint === endpoint).map(({ message }) => message)
const noticesAt = (endpoint: string) =>
  givenAt(endpoint).map(
    ({ text }) => JSON.parse(text) as { title: string; body: string; type: string; url: string; tag: string },
  )
const titlesAt = (endpoint: string) => noticesAt(endpoint).map(({ title }) => title)
const tells = (endpoint: string, ...notices: object[]) => expect.poll(() => noticesAt(endpoint)).toMatchObject(notices)

const named = (who: Person, username: string) => who.rest('POST /api/username', { username })
const writes = async (from: Person, room: RoomRef, text = sealed(), more: Partial<CallOf<typeof messages.send>> = {}) =>
  (await from.does('rest', messages.send, { room, text, ...more })).message
const sends = (from: Person, to: Person, more: Partial<CallOf<typeof contract.send>> = {}) =>
  from.does('rest', contract.send, { targetAddress: to.account, ...more })
const refusal = (from: Person, to: Person, more: object = {}) =>
  from.refused('rest', contract.send, { targetAddress: to.account, ...more })
let marked = 0
/** After this, what was done before has been told, where it is. */
async function settled(endpoint: string, to: Person): Promise<void> {
  for (const name of ['first', 'second']) {
    marked += 1
    const marker = await person(server, `marker ${name} ${marked}`)
    const room = dmOf(marker.account, to.account)
    await writes(marker, room)
    await expect.poll(() => noticesAt(endpoint).some(({ tag }) => tag === roomKey(room))).toBe(true)
  }
}

describe('browsers', () => {
  solo('subscribe by the key of the server, and are told until they are taken away', async () => {
    expect((await call(server.url, 'GET /api/push/public-key')).body).toEqual({ publicKey: push.publicKey })
    const [here, there] = [await subscribes(one), await subscribes(one)]
    await sends(one, one, { title: 'A reminder', body: 'Now', url: '/calls' })
    for (const endpoint of [here, there])
      expect(noticesAt(endpoint)).toMatchObject([
        { title: 'A reminder', body: 'Now', type: 'notification', url: '/calls', senderAddress: one.account },
      ])
    await two.does('rest', contract.unsubscribe, { endpoint: here })
    await one.does('rest', contract.unsubscribe, { endpoint: there })
    await sends(one, one)
    expect([noticesAt(here).length, noticesAt(there).length]).toEqual([2, 1])
    await one.does('rest', contract.unsubscribe, {})
    expect((await refusal(one, one)).code).toBe('NOT_FOUND')
  })

  solo('are ten of an account: the oldest goes', async () => {
    const endpoints: string[] = []
    for (let ahead = 0; ahead < 12; ahead++) {
      server.setAhead(ahead)
      endpoints.push(await subscribes(one))
    }
    await sends(one, one)
    expect(endpoints.map((endpoint) => noticesAt(endpoint).length)).toEqual([
      0,
      0,
      ...Array.from({ length: 10 }, () => 1),
    ])
    expect(await PushBrowsers.countDocuments({ account: one.account })).toBe(10)
  })

  solo('belong to whoever subscribed them last', async () => {
    const browser = newBrowser()
    const endpoint = await subscribes(one, browser)
    await subscribes(two, browser)
    expect((await refusal(one, one)).code).toBe('NOT_FOUND')
    await one.does('rest', contract.unsubscribe, { endpoint })
    await sends(two, two, { title: 'Mine' })
    expect(titlesAt(endpoint)).toEqual(['Mine'])
  })

  test('are told nothing once their device is signed out, and go on with a session that is refreshed', async () => {
    const endpoint = await subscribes(one)
    const again = await person(server, `pushing ${round}`)
    const other = await subscribes(again)
    const { body } = await call(one.url, 'POST /api/auth/session', { refreshToken: one.refreshToken })
    const refreshed = String(body.sessionToken)
    await sends(again, again)
    expect([noticesAt(endpoint).length, noticesAt(other).length]).toEqual([1, 1])
    await call(one.url, 'POST /api/auth/logout', { allDevices: false }, refreshed)
    await sends(again, again)
    expect([noticesAt(endpoint).length, noticesAt(other).length]).toEqual([1, 2])
    expect(await PushBrowsers.countDocuments({ account: one.account })).toBe(1)
  })

  solo('are given nothing that still waited for them when their device was signed out', async () => {
    const endpoint = await subscribes(two)
    push.moods.set(endpoint, 'TIMEOUT')
    await writes(one, dmOf(one.account, two.account))
    await expect.poll(() => push.asked).toContain(endpoint)
    await call(two.url, 'POST /api/auth/logout', { allDevices: false }, two.token)
    push.moods.clear()
    await expect.poll(() => PushBrowsers.countDocuments({ account: two.account })).toBe(0)
    expect(noticesAt(endpoint)).toEqual([])
  })

  solo('that are subscribed no more are forgotten: 410 where it was the last', async () => {
    const [here, there] = [await subscribes(one), await subscribes(one)]
    push.moods.set(here, 'gone')
    await sends(one, one)
    expect(noticesAt(there)).toHaveLength(1)
    expect(await PushBrowsers.countDocuments({ account: one.account })).toBe(1)
    push.moods.set(there, 'gone')
    expect(await refusal(one, one)).toMatchObject({ status: 410, code: 'SUBSCRIPTION_EXPIRED' })
    expect((await refusal(one, one)).code).toBe('NOT_FOUND')
  })

  solo.each(['UPSTREAM_ERROR', 'TIMEOUT', 'refused'] as const)('whose service fails by %s stay', async (mood) => {
    const endpoint = await subscribes(one)
    push.moods.set(endpoint, mood)
    expect(await refusal(one, one)).toMatchObject({ status: 500, code: 'UPSTREAM_ERROR' })
    push.moods.clear()
    await sends(one, one)
    expect(noticesAt(endpoint)).toHaveLength(1)
  })

  solo.each([
    'https://127.0.0.1/1',
    'https://push.test.evil.test/1',
    'https://push.test:8443/1',
    'https://a:b@push.test/1',
    'http://push.test/1',
    'https://push.test/#1',
    'https://',
    'push.test',
    '',
  ])('T63: at %s do not subscribe', async (endpoint) => {
    const { keys } = newBrowser().asJson
    const refused = await one.refused('rest', contract.subscribe, { subscription: { endpoint, keys } })
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('endpoint')])
    expect(await PushBrowsers.countDocuments({ account: one.account })).toBe(0)
  })

  solo('whose keys are none do not subscribe', async () => {
    const { asJson } = newBrowser()
    for (const keys of [
      { p256dh: Buffer.alloc(65, 4).toString('base64url') },
      { p256dh: 'x' },
      { auth: 'x' },
      { auth: Buffer.alloc(17).toString('base64url') },
    ]) {
      const subscription = { ...asJson, keys: { ...asJson.keys, ...keys } }
      expect((await one.refused('rest', contract.subscribe, { subscription })).status).toBe(400)
    }
  })

  solo('of a service token do not subscribe', async () => {
    const { body } = await root.rest('POST /api/admin/service-tokens', {
      name: `Pusher ${round}`,
      scopes: ['push:write'],
    })
    const answer = await call(
      server.url,
      'POST /api/push/subscribe',
      { subscription: newBrowser().asJson },
      String(body.token),
    )
    expect([answer.status, answer.code]).toEqual([403, 'FORBIDDEN'])
  })

  solo('of who is suspended are taken away and silenced, and none is added', async () => {
    await subscribes(one)
    await root.does('rest', accounts.suspend, { userAddress: one.account, ban: true })
    const { asJson: subscription } = newBrowser()
    expect((await one.refused('rest', contract.subscribe, { subscription })).code).toBe('SUSPENDED')
    expect((await refusal(one, one)).code).toBe('SUSPENDED')
    await one.does('rest', contract.changePreferences, { notifyDms: false })
    await one.does('rest', contract.unsubscribe, { endpoint: '' })
    expect(await PushBrowsers.countDocuments({ account: one.account })).toBe(0)
  })
})

describe('whom somebody notifies', () => {
  solo('is a friend, and who it is from is said by the server', async () => {
    await befriend(one, two)
    await named(one, `pushing_${round}`)
    const endpoint = await subscribes(two)
    await sends(one, two, { type: 'message', title: 'Plaza security', body: 'What it says', callerName: 'Root' })
    await sends(one, two, { type: 'incoming_call', title: 'Plaza', callerName: 'Root', senderAddress: one.account })
    await sends(one, two, { title: 'Plaza security', body: 'x'.repeat(1_000) })
    const name = `pushing_${round}`
    expect(noticesAt(endpoint)).toMatchObject([
      { title: name, body: 'New message', type: 'message', tag: roomKey(dmOf(one.account, two.account)) },
      { title: name, body: 'Incoming call', callerId: one.account, callerName: name },
      { title: `${name}: Plaza security`, body: `${'x'.repeat(199)}…` },
    ])
    const [, ringing] = givenAt(endpoint)
    expect(ringing).toMatchObject({ seconds: 60, urgency: 'high', topic: expect.stringMatching(/^[\w-]{32}$/) })
  })

  solo('T63: is no stranger, nor anybody blocked, whether they are subscribed or not', async () => {
    const endpoint = await subscribes(two)
    const stranger = await refusal(one, two)
    expect(stranger).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await refusal(one, root)).toEqual(stranger)
    const nobody = { ...two, account: `0x${'12'.repeat(20)}` }
    expect(await refusal(one, nobody)).toEqual(stranger)
    await one.does('rest', friends.request, { toAddress: two.account })
    expect(await refusal(one, two)).toEqual(stranger)
    const { incoming } = await two.does('rest', friends.requests, {})
    await two.does('rest', friends.accept, { requestId: incoming[0]?.id ?? '' })
    await sends(one, two, { title: 'Now' })
    await two.does('rest', social.block, { userAddress: one.account })
    expect(await refusal(one, two)).toEqual(stranger)
    expect(await refusal(two, one)).toEqual(stranger)
    expect(titlesAt(endpoint).filter((title) => title.endsWith('Now'))).toHaveLength(1)
  })

  solo.each(['senderAddress', 'callerId'])('T07: is told of nobody else by %s', async (field) => {
    await befriend(one, two)
    await subscribes(two)
    expect(await refusal(one, two, { [field]: root.account })).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })

  solo.each([
    'https://evil.test/',
    '//evil.test/',
    'http://localhost:3000//evil.test/',
    '/\\evil.test/',
    '\\\\evil.test',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://localhost:3001/',
  ])('T63: is led nowhere else, as to %s', async (url) => {
    await subscribes(one)
    expect((await refusal(one, one, { url })).status).toBe(400)
  })

  solo('is led to this site, by a path or an address', async () => {
    const endpoint = await subscribes(one)
    for (const url of ['http://localhost:3000/calls', '/room/ABC', '', null]) await sends(one, one, { url })
    expect(noticesAt(endpoint)).toMatchObject([{ url: '/calls' }, { url: '/room/ABC' }, { url: '/' }, { url: '/' }])
  })

  solo('hears nothing of who is silenced, who is not told so', async () => {
    await befriend(one, two)
    const endpoint = await subscribes(two)
    await two.does('rest', social.mute, { conversationType: 'dm', conversationId: one.account })
    expect(await sends(one, two)).toEqual({ success: true })
    expect(noticesAt(endpoint)).toEqual([])
  })

  solo('is notified so often in an hour', async () => {
    await befriend(one, two)
    await subscribes(two)
    const most = 20 * scale
    for (let sent = 0; sent < most; sent++) await sends(one, two)
    expect(await refusal(one, two)).toMatchObject({ status: 429, retryAfter: expect.any(Number) })
    expect((await refusal(one, one)).code).toBe('NOT_FOUND')
  })
})

describe('preferences', () => {
  const all = {
    ...{ notifyDms: true, notifyGroups: true, notifyChannels: true, notifyCalls: true },
    notifyInvitations: true,
  }

  solo('are all on at first, and what is named is changed', async () => {
    const read = () => one.does('rest', contract.preferences, {})
    expect(await read()).toEqual({ quietStart: null, quietEnd: null, quietTimezone: null, ...all })
    await one.does('rest', contract.changePreferences, { quietStart: 22, quietEnd: 7, notifyGroups: false })
    await one.does('rest', contract.changePreferences, { notifyCalls: false, notifyDms: null })
    expect(await read()).toEqual({
      ...{ quietStart: 22, quietEnd: 7, quietTimezone: null },
      ...all,
      notifyGroups: false,
      notifyCalls: false,
    })
    await one.does('rest', contract.changePreferences, { quietStart: '', quietEnd: null })
    expect(await read()).toMatchObject({ quietStart: null, quietEnd: null })
    expect(await two.does('rest', contract.preferences, {})).toMatchObject(all)
  })

  solo('that an older version stored want what is new, too', async () => {
    await one.does('rest', contract.changePreferences, { notifyCalls: false, notifyInvitations: false })
    await PushPreferences.updateOne({ _id: one.account }, { $unset: { notify_invitations: '' } })
    expect(await one.does('rest', contract.preferences, {})).toMatchObject({
      notifyCalls: false,
      notifyInvitations: true,
    })
  })

  solo.each([{}, { notifyDms: null }, { quietStart: 24 }, { quietEnd: -1 }, { quietStart: 1.5 }, { notifyDms: 'no' }])(
    'take no %j',
    async (change) => {
      const { status } = await one.refused('rest', contract.changePreferences, change as never)
      expect(status).toBe(400)
    },
  )

  solo.each([
    ['message', 'notifyDms', 'notify_dms'],
    ['group_message', 'notifyGroups', 'notify_groups'],
    ['channel_message', 'notifyChannels', 'notify_channels'],
    ['incoming_call', 'notifyCalls', 'notify_calls'],
    ['group_invitation', 'notifyInvitations', 'notify_invitations'],
  ] as const)('silence %s by %s', async (type, name, suppressed) => {
    const endpoint = await subscribes(one)
    await one.does('rest', contract.changePreferences, { [name]: false })
    expect(await sends(one, one, { type })).toEqual({ success: true, suppressed })
    expect(await sends(one, one)).toEqual({ success: true })
    expect(noticesAt(endpoint)).toHaveLength(1)
  })

  solo('have hours in which calls alone are told, over midnight too', async () => {
    await subscribes(one)
    const hour = (ahead: number) => (new Date().getUTCHours() + ahead + 24) % 24
    const quiet = async (from: number, to: number) => {
      await one.does('rest', contract.changePreferences, { quietStart: hour(from), quietEnd: hour(to) })
      return (await sends(one, one)).suppressed ?? null
    }
    // The hour may turn within the test.
    expect(await quiet(-1, 2)).toBe('quiet_hours')
    expect(await quiet(3, 2)).toBe('quiet_hours')
    expect(await quiet(2, 5)).toBe(null)
    expect(await quiet(2, -1)).toBe(null)
    expect(await quiet(0, 0)).toBe(null)
    await quiet(-1, 2)
    expect(await sends(one, one, { type: 'incoming_call' })).toEqual({ success: true })
  })

  test('tell of nothing, calls too, while somebody does not want to be disturbed', async () => {
    const endpoint = await subscribes(two)
    await two.does('rest', accounts.updateProfile, { do_not_disturb: true, calls_from: 'everyone' })
    for (const type of ['notification', 'incoming_call'] as const)
      expect(await sends(two, two, { type })).toEqual({ success: true, suppressed: 'do_not_disturb' })
    await writes(one, dmOf(one.account, two.account))
    await one.does('rest', calls.start, { calleeAddress: two.account, callType: 'video', status: 'ringing' })
    await one.does('rest', calls.start, { calleeAddress: two.account, callType: 'video', status: 'missed' })
    await two.does('rest', accounts.updateProfile, { do_not_disturb: false })
    expect(await sends(two, two)).toEqual({ success: true })
    await settled(endpoint, two)
    expect(noticesAt(endpoint).filter(({ type }) => type === 'incoming_call')).toEqual([])
    expect(await two.does('rest', contract.preferences, {})).not.toHaveProperty('doNotDisturb')
  })
})

describe('browsers are told by themselves', () => {
  solo('of a direct message, and of nothing in it', async () => {
    const endpoint = await subscribes(two)
    const mine = await subscribes(one)
    const room = dmOf(one.account, two.account)
    await writes(one, room)
    await tells(endpoint, {
      body: 'New message',
      type: 'message',
      senderAddress: one.account,
      url: `/rooms/${roomKey(room)}`,
      tag: roomKey(room),
    })
    const secret = sealed()
    for (const { text } of givenAt(endpoint)) expect(text).not.toContain(secret)
    expect(givenAt(endpoint)[0]).toMatchObject({ urgency: 'normal' })
    expect(noticesAt(mine)).toEqual([])
  })

  solo('of a mention and a reply in a channel, and of nothing else there', heavy, async () => {
    const room = await channelOf(one, two)
    const endpoint = await subscribes(two)
    const own = await writes(two, room, 'What do you think?')
    await writes(one, room, 'Hello all')
    await settled(endpoint, two)
    const mentions = [{ kind: 'user' as const, id: two.account, start: 0, len: 4 }]
    await writes(one, room, '@two look', { mentions })
    await expect
      .poll(() => noticesAt(endpoint).filter(({ tag }) => tag === roomKey(room)))
      .toMatchObject([{ type: 'channel_message', body: '@two look', title: expect.stringContaining(' in Room ') }])
    await writes(one, room, 'Yes', { reply_to: own.id })
    await expect
      .poll(() =>
        noticesAt(endpoint)
          .filter(({ tag }) => tag === roomKey(room))
          .at(-1),
      )
      .toMatchObject({ body: 'Yes' })
  })

  solo('of a mention in a channel they are not in, never', async () => {
    const room = await channelOf(one)
    const endpoint = await subscribes(two)
    await writes(one, room, '@two look', { mentions: [{ kind: 'user', id: two.account, start: 0, len: 4 }] })
    await settled(endpoint, two)
    expect(noticesAt(endpoint).every(({ type }) => type === 'message')).toBe(true)
  })

  solo('of what is said in a group', async () => {
    const room = await groupOf(one, two)
    const endpoint = await subscribes(two)
    await writes(one, room, 'Dinner at eight')
    await tells(endpoint, { type: 'group_message', body: 'Dinner at eight', tag: roomKey(room) })
  })

  solo('of a call that rings, also in quiet hours, for as long as it rings', async () => {
    const endpoint = await subscribes(two)
    await two.does('rest', accounts.updateProfile, { calls_from: 'everyone' })
    await named(one, `ringing_${round}`)
    await one.does('rest', accounts.updateProfile, { display_name: `Rings ${round}` })
    const hour = new Date().getUTCHours()
    await two.does('rest', contract.changePreferences, { quietStart: hour, quietEnd: (hour + 2) % 24 })
    await one.does('rest', calls.start, { calleeAddress: two.account, callType: 'video', status: 'ringing' })
    await tells(endpoint, {
      type: 'incoming_call',
      ...{ callerId: one.account, callerName: `Rings ${round}` },
      body: 'Incoming video call',
      url: '/calls',
    })
    const [given] = givenAt(endpoint)
    expect(given).toMatchObject({ urgency: 'high' })
    expect(given?.seconds).toBeLessThanOrEqual(60)
    await one.does('rest', calls.start, { calleeAddress: two.account, callType: 'video', status: 'missed' })
    await two.does('rest', contract.changePreferences, { quietStart: null })
    await settled(endpoint, two)
    expect(noticesAt(endpoint).filter(({ type }) => type === 'incoming_call')).toHaveLength(1)
  })

  solo('of a request to be friends', async () => {
    const endpoint = await subscribes(two)
    await one.does('rest', friends.request, { toAddress: two.account })
    const told = { type: 'notification', body: 'Would like to be your friend', url: '/friends' }
    await tells(endpoint, { ...told, senderAddress: one.account })
  })

  solo('of an invitation to a group, until that is turned off', async () => {
    const endpoint = await subscribes(two)
    const invite = (from: Person) =>
      from.does('rest', rooms.createGroup, { name: `Readers ${round}`, memberAddresses: [two.account] })
    await invite(one)
    const told = { type: 'group_invitation', body: `Invites you to Readers ${round}`, url: '/' }
    await tells(endpoint, { ...told, senderAddress: one.account })
    await two.does('rest', contract.changePreferences, { notifyInvitations: false })
    await invite(await person(server, `inviter ${round}`))
    await settled(endpoint, two)
    expect(noticesAt(endpoint).filter(({ type }) => type === told.type)).toHaveLength(1)
  })

  solo('of a call that somebody has booked', async () => {
    const host = await bookable(server, `host of pushes ${round}`)
    await openAlways(host)
    const endpoint = await subscribes(host)
    const input = { recipientAddress: host.account, scheduledAt: inThreeDays(12) }
    const { id } = await one.does('rest', booking.schedule, input)
    const place = { type: 'notification', url: '/calls', tag: `booking:${id}`, senderAddress: one.account }
    await tells(endpoint, { ...place, body: 'Has booked a call with you' })
    await one.does('rest', booking.cancel, { id, status: 'cancelled' })
    await one.does('rest', booking.cancel, { id, status: 'cancelled' })
    await settled(endpoint, host)
    expect(noticesAt(endpoint).filter(({ type }) => type === 'notification')).toMatchObject([
      { ...place, body: 'Has booked a call with you' },
      { ...place, body: 'Has cancelled a call with you' },
    ])
  })

  test('of a call that its host, or a guest, has cancelled, and not who has done it', async () => {
    const host = await bookable(server, `cancels calls ${round}`)
    await openAlways(host)
    const [hosts, bookers] = [await subscribes(host), await subscribes(one)]
    const { id } = await one.does('rest', booking.schedule, {
      recipientAddress: host.account,
      scheduledAt: inThreeDays(12),
    })
    await host.does('rest', booking.cancel, { id, status: 'cancelled' })
    const told = { body: 'Has cancelled a call with you', url: '/calls', senderAddress: host.account }
    await tells(bookers, told)
    const booked = { recipientAddress: host.account, scheduledAt: inThreeDays(14), ...guestOf(`Guest ${round}`) }
    const { body } = await asGuest(server.url, booked)
    const { invite_token: token } = body
    await call(server.url, `PATCH /api/scheduling/calls/${body.id}`, { status: 'cancelled', token })
    await expect
      .poll(() => noticesAt(hosts).at(-1))
      .toMatchObject({
        ...{ title: `Guest ${round}`, body: 'Has cancelled a call with you', senderAddress: null },
      })
    await settled(hosts, host)
    expect(noticesAt(hosts).filter(({ body }) => body === told.body)).toHaveLength(1)
  })

  solo('of a call that was cancelled by a node that has died since, and not who had cancelled it', async () => {
    const host = await bookable(server, `cancels and dies ${round}`)
    await openAlways(host)
    const [hosts, bookers] = [await subscribes(host), await subscribes(one)]
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(12) }
    const { id } = await one.does('rest', booking.schedule, asked)
    const left = { status: 'cancelled', cancelled_by: host.account, tell_at: new Date(0) } as const
    await Bookings.updateOne({ _id: id }, { $set: left })
    await followUpOlderCalls(server.apps[0]?.node ?? expect.fail())
    const told = { body: 'Has cancelled a call with you', url: '/calls', senderAddress: host.account }
    await tells(bookers, told)
    await expect.poll(async () => (await Bookings.findOne({ _id: id }).lean())?.tell_at).toBeUndefined()
    await settled(hosts, host)
    expect(noticesAt(hosts).filter(({ body }) => body === told.body)).toEqual([])
    expect(noticesAt(bookers)).toHaveLength(1)
  })

  test('not while a page of theirs is in front of them, on whichever node; where it is hidden, they are', async () => {
    const endpoint = await subscribes(two)
    const line = await two.line()
    const watcher = await person(server, `watcher ${round}`)
    const watched = await subscribes(watcher)
    await writes(one, dmOf(one.account, two.account))
    for (const told of [1, 2]) {
      await writes(one, dmOf(one.account, watcher.account))
      await expect.poll(() => noticesAt(watched).length).toBe(told)
    }
    await two.does(line, messages.presence, { state: 'idle' })
    const marker = await person(server, `marker away ${round}`)
    await expect
      .poll(async () => {
        await writes(marker, dmOf(marker.account, two.account))
        return noticesAt(endpoint).length
      })
      .toBeGreaterThan(0)
    expect(noticesAt(endpoint).some(({ tag }) => tag === roomKey(dmOf(one.account, two.account)))).toBe(false)
  })

  solo.each([
    ['silenced', async () => two.does('rest', social.mute, { conversationType: 'dm', conversationId: one.account })],
    ['not wanted', async () => two.does('rest', contract.changePreferences, { notifyDms: false })],
  ] as const)('not of a conversation that is %s', async (why, act) => {
    const endpoint = await subscribes(two)
    await act()
    await writes(one, dmOf(one.account, two.account))
    if (why === 'silenced') await settled(endpoint, two)
    else {
      const room = await groupOf(one, two)
      await writes(one, room, 'first')
      await expect.poll(() => noticesAt(endpoint).length).toBeGreaterThan(0)
      await writes(one, room, 'second')
      await expect.poll(() => noticesAt(endpoint).at(-1)?.body).toBe('second')
    }
    expect(noticesAt(endpoint).some(({ tag }) => tag === roomKey(dmOf(one.account, two.account)))).toBe(false)
  })

  solo('not of what somebody blocked says in a group', async () => {
    const room = await groupOf(one, two)
    const endpoint = await subscribes(two)
    await two.does('rest', social.block, { userAddress: one.account })
    await writes(one, room, 'Hello')
    await settled(endpoint, two)
    expect(noticesAt(endpoint).some(({ type }) => type === 'group_message')).toBe(false)
  })

  /** A group in which somebody is told of what one of them says, friend or stranger, and has blocked the third, at the same node. */
  async function withBlocked(isFriend: boolean) {
    if (isFriend) await befriend(one, two)
    const third = await personAt(one.url, `blocked ${round}`)
    const room = await groupOf(one, two, third)
    const endpoint = await subscribes(two)
    await two.does('rest', social.block, { userAddress: third.account })
    const bodies = () => noticesAt(endpoint).map(({ body }) => body)
    // What is written now is looked at together.
    await writes(one, room, 'Are you there?')
    await expect.poll(bodies).toEqual(['Are you there?'])
    return { third, room, bodies }
  }

  test.each([
    ['a friend', true],
    ['a stranger', false],
  ])('of what %s says, not of what somebody blocked says in the same moment', async (_who, isFriend) => {
    const { third, room, bodies } = await withBlocked(isFriend)
    await writes(one, room, 'Dinner at eight')
    await writes(third, room, 'Hello')
    await expect.poll(bodies).toEqual(['Are you there?', 'Dinner at eight'])
  })

  test('of what a friend says, however much somebody blocked says in the same moment', async () => {
    const { third, room, bodies } = await withBlocked(true)
    await writes(one, room, 'Dinner at eight')
    await Promise.all(Array.from({ length: 60 }, () => writes(third, room, 'Hello')))
    await expect.poll(bodies).toEqual(['Are you there?', 'Dinner at eight'])
  })

  test('by one node, whichever follow the room, and once for all that is said in a moment', heavy, async () => {
    const endpoint = await subscribes(two)
    const room = dmOf(one.account, two.account)
    const ofRoom = () => noticesAt(endpoint).filter(({ tag }) => tag === roomKey(room)).length
    await writes(one, room)
    await expect.poll(ofRoom).toBe(1)
    for (const url of server.urls) await (await one.socket('/notifications', url)).hears(unreadSnapshot)
    await writes(one, room)
    await settled(endpoint, two)
    expect(ofRoom()).toBe(2)
    await Promise.all(Array.from({ length: 10 }, () => writes(one, room)))
    await settled(endpoint, two)
    expect(ofRoom()).toBeGreaterThan(2)
    expect(ofRoom()).toBeLessThan(12)
  })

  solo('again where the push service fails, and no more where the browser is gone', heavy, async () => {
    const [failing, gone] = [await subscribes(two), await subscribes(two)]
    push.moods.set(failing, 'UPSTREAM_ERROR').set(gone, 'gone')
    await writes(one, dmOf(one.account, two.account))
    await expect.poll(() => PushBrowsers.countDocuments({ account: two.account })).toBe(1)
    push.moods.clear()
    await tells(failing, { type: 'message' })
    expect(noticesAt(gone)).toEqual([])
  })
})

describe('the key of a server', () => {
  test('is the first that was offered, for all of its nodes and starts', async () => {
    const kept = await keepPushKey(newPrivateKey())
    expect(await keepPushKey(newPrivateKey())).toBe(kept)
    expect(publicKeyOf(kept)).toHaveLength(87)
  })

  solo('is given as a pair', () => {
    const privateKey = newPrivateKey()
    const VAPID_PUBLIC_KEY = publicKeyOf(privateKey)
    const read = (values: Record<string, string>) => readConfig({ NODE_ENV: 'test', ...values }).push
    expect(read({ VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY: privateKey })).toMatchObject({
      privateKey,
      subject: 'mailto:no-reply@localhost',
    })
    expect(read({ PUBLIC_URL: 'https://plaza.test' })).toMatchObject({
      privateKey: null,
      subject: 'https://plaza.test',
      hosts: expect.arrayContaining(['fcm.googleapis.com']),
    })
    expect(read({ PUSH_HOSTS: 'Push.Example' }).hosts).toEqual(['push.example'])
    expect(() => read({ VAPID_PUBLIC_KEY })).toThrow('belong together')
    expect(() => read({ VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY: newPrivateKey() })).toThrow('VAPID_PRIVATE_KEY')
    expect(() => read({ VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY: 'A'.repeat(43) })).toThrow('VAPID_PRIVATE_KEY')
  })
})
