// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PointEntries } from '#server/domains/people/points/model'
import { localStorage } from '#server/ports/storage/local'
import { fakeVideo } from '#server/ports/video/fake'
import { agents } from '#shared/api/agents/agents'
import { booking } from '#shared/api/meetings/booking'
import { scheduling } from '#shared/api/meetings/scheduling'
import { themePresets } from '#shared/api/people/profile-theme'
import { streams } from '#shared/api/streams/streams'
import { bookable, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, person } from '#test/support/people'
import { jpegOf, secret } from '#test/support/pictures'
import { puppetModel } from '#test/support/puppet-model'
import { call } from '#test/support/wallet'

/** What clients of the older SDK send with each call. */
const key = { 'x-api-key': 'sk_test' }
const puppet = puppetModel()
const video = fakeVideo()
let folder: string
let server: Booted
let alice: Person
let bob: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-older-'))
  const services = { storage: await localStorage(folder), model: puppet.model, video }
  server = await boot({ environment: { BETA: 'open' }, services })
  alice = await person(server, 'alice')
  bob = await person(server, 'bob')
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const ids = (rows: unknown) => (rows as { id: string }[]).map(({ id }) => id)

test('O71: streams are listed by the status that is asked for', async () => {
  const [idle, live, ended] = await Promise.all(
    ['idle', 'live', 'ended'].map(async (name) => {
      const owner = await person(server, `who is ${name}`)
      const { stream } = await owner.does('rest', streams.create, { title: name })
      if (name === 'live') video.publish(stream.stream_id)
      if (name === 'ended') await owner.does('rest', streams.end, { id: stream.id })
      return stream.id
    }),
  )
  const listed = async (status: string) => ids((await alice.rest(`GET /api/streams?status=${status}`)).body.streams)
  await expect.poll(() => listed('live')).toEqual([live])
  expect(await listed('idle')).toEqual([idle])
  expect(await listed('ended')).toEqual([ended])
  expect(ids((await alice.rest('GET /api/streams?status=ended&live=true')).body.streams)).toEqual([])
  expect((await alice.rest('GET /api/streams?status=paused')).status).toBe(400)
})

test('O71: a leaderboard of a period counts what was given within it', async () => {
  const gives = (who: Person, points: number, daysAgo: number) =>
    PointEntries.create({
      _id: `${who.account} ${daysAgo}`,
      wallet_address: who.account,
      claim: `a deed ${daysAgo} days ago`,
      ...{ points, reason: 'A deed' },
      created_at: new Date(Date.now() - daysAgo * 86_400_000),
    })
  await gives(alice, 100, 20)
  await gives(alice, 1, 0)
  await gives(bob, 7, 2)
  const ranked = async (period: string) => {
    const { body } = await call(server.url, `GET /api/leaderboard?period=${period}`)
    const entries = body.entries as { address: string; score: number; rank: number }[]
    return [body.total, ...entries.map(({ rank, address, score }) => [rank, address, score])]
  }
  expect(await ranked('week')).toEqual([2, [1, bob.account, 7], [2, alice.account, 1]])
  expect(await ranked('30d')).toEqual([2, [1, alice.account, 101], [2, bob.account, 7]])
  expect(await ranked('24h')).toEqual([1, [1, alice.account, 1]])
  expect((await call(server.url, 'GET /api/leaderboard?period=decade')).status).toBe(400)
})

test('O71: the options of passkeys name the site', async () => {
  for (const what of ['register', 'login']) {
    const { body } = await call(server.url, `POST /api/passkey/${what}/options`, {})
    expect(body.options).toMatchObject({ rpId: body.rpId, rpName: 'Plaza' })
    expect(body.rpId).toBeTruthy()
  }
})

test('O96: the options of passkeys have the name that is asked for, and are of this site alone', async () => {
  for (const what of ['register', 'login']) {
    const asked = (body: object) => call(server.url, `POST /api/passkey/${what}/options`, body)
    const { body } = await asked({ rpId: 'LOCALHOST', rpName: 'Our app' })
    expect([body.rpId, body.rpName]).toEqual(['localhost', 'Our app'])
    expect(body.options).toMatchObject({ rpId: 'localhost', rpName: 'Our app' })
    for (const rpId of ['evil.example', 'localhost.evil.example', 'sub.localhost', 'localhost:3000'])
      expect(await asked({ rpId })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('localhost') },
      })
    expect((await asked({ rpId: '', rpName: null })).body).toMatchObject({ rpId: 'localhost', rpName: 'Plaza' })
  }
})

test('O71: a theme is set by the name of a preset and by colours', async () => {
  const path = '/api/profile/theme'
  const set = (theme: object) => alice.rest(`POST ${path}`, theme)
  expect((await set({ theme_id: 'ocean' })).body).toMatchObject({ ...themePresets.ocean, theme_id: 'ocean' })
  const colors = { primary: '#ff0000', text: '#010203', background: '#000000' }
  expect((await set({ theme_id: 'sunset', colors, card_style: 'pill' })).status).toBe(200)
  expect((await bob.rest(`GET ${path}?address=${alice.account}`)).body).toMatchObject({
    ...themePresets.sunset,
    ...{ accent_color: '#ff0000', text_color: '#010203', card_style: 'pill' },
    ...{ background_type: 'solid', background_value: '#000000', theme_id: null },
    colors: { accent: '#ff0000', text: '#010203', background: '#000000' },
  })
  expect((await set({ theme_id: 'plaid' })).status).toBe(400)
  expect((await set({ colors: { shade: '#000000' } })).status).toBe(400)
  expect((await set({ colors: { text: 'url(https://evil.test)' } })).status).toBe(400)
})

test('O71: the options of a poll are objects for clients of the older SDK, and texts for others', async () => {
  const room = await channelOf(alice, bob)
  const path = `/api/channels/${room.id}/polls`
  const asked = { question: 'Tea?', options: ['2', '0'] }
  const made = (await alice.rest(`POST ${path}`, asked, key)).body
  const options = (...votes: number[]) => asked.options.map((text, id) => ({ id, text, vote_count: votes[id] ?? 0 }))
  expect(made).toMatchObject({ options: options(), poll: { options: options() } })
  const [, second] = made.options as { id: number }[]
  expect((await bob.rest(`POST ${path}/${made.id}/vote`, { option_id: second?.id }, key)).body).toMatchObject({
    success: true,
  })
  expect((await bob.rest(`GET ${path}`, null, key)).body).toMatchObject({ polls: [{ options: options(0, 1) }] })
  expect((await bob.rest(`GET ${path}`)).body).toMatchObject({ polls: [{ options: asked.options }] })
  const closed = await alice.rest(`PATCH ${path}/${made.id}`, { isClosed: true }, key)
  expect(closed.body).toMatchObject({ poll: { options: options(0, 1), is_active: false } })
})

// A process that reads pictures is started first.
test('O71: a picture that is not sealed can be sent as an image, without what is written about it', heavy, async () => {
  const room = await channelOf(alice)
  const body = new FormData()
  body.set('file', new File([new Uint8Array(jpegOf({ about: [0, 1] }))], 'me.jpg', { type: 'image/jpeg' }))
  body.set('originalType', 'image/jpeg')
  const headers = { authorization: `Bearer ${alice.token}`, ...key }
  const answer = await fetch(`${alice.url}/api/upload/image`, { method: 'POST', headers, body })
  const stored = (await answer.json()) as { url: string; originalType: string }
  expect(answer.status).toBe(200)
  expect(stored).toMatchObject({ originalType: 'image/jpeg', url: expect.stringMatching(/\.jpe?g$/) })
  const shown = Buffer.from(await (await fetch(server.url + new URL(stored.url).pathname)).arrayBuffer())
  expect([shown.length > 0, shown.includes(secret)]).toEqual([true, false])
  const sent = { content: stored.url, message_type: 'image' }
  const { status, body: message } = await alice.rest(`POST /api/channels/${room.id}/messages`, sent, key)
  expect([status, message.message_type]).toEqual([200, 'photo'])
  body.set('file', new File([new Uint8Array(64).fill(7)], 'sealed.enc'))
  expect((await fetch(`${alice.url}/api/upload/image`, { method: 'POST', headers, body })).status).toBe(400)
})

test('O71: an answer names its session, and rests on what was said in that alone', async () => {
  const { agent } = await alice.does('rest', agents.create, { name: 'Session' })
  const ask = async (question: object, answer: string) => {
    const asked = alice.rest(`POST /api/agents/${agent.id}/chat`, question, key)
    const waiting = await puppet.asked()
    waiting.say(answer)
    waiting.end()
    const { body } = await asked
    expect(body).toMatchObject({ success: true, message: answer })
    return { session: String(body.sessionId), told: waiting.question.turns.map(({ content }) => content).join('\n') }
  }
  const first = await ask({ message: 'One?' }, 'first')
  const second = await ask({ message: 'Two?', sessionId: 'mine' }, 'second')
  const again = await ask({ message: 'Three?', sessionId: first.session }, 'third')
  const whole = await ask({ message: 'Four?' }, 'fourth')
  expect([second.session, again.session]).toEqual(['mine', first.session])
  expect([second.told.includes('first'), again.told.includes('first')]).toEqual([false, true])
  expect(again.told).not.toContain('second')
  // Questions without a session are a conversation of their own.
  expect(['first', 'second', 'third'].filter((said) => whole.told.includes(said))).toEqual(['first'])
  const { chats } = await alice.does('rest', agents.history, { id: agent.id })
  expect(chats).toHaveLength(8)
})

test('O71: a call that is read by its token has it', async () => {
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const { inviteToken } = await alice.does('rest', booking.createShareable, { scheduledAt })
  const { body } = await call(server.url, `GET /api/scheduling/join/${inviteToken}`, null, undefined, key)
  expect(body).toMatchObject({ invite_token: inviteToken, call: { invite_token: inviteToken } })
})

test('O71: who books a call may name their email and name as the scheduler', async () => {
  const host = await bookable(server, 'host of a call')
  await openAlways(host)
  const { slots } = await bob.does('rest', scheduling.availability, { userAddress: host.account })
  const asked = { recipientAddress: host.account, scheduledAt: slots.at(-1)?.start, timezone: 'UTC', title: 'Tea' }
  const guest = { schedulerEmail: 'ann@example.com', schedulerName: 'Ann' }
  const booked = await call(server.url, 'POST /api/scheduling/schedule', { ...asked, ...guest }, undefined, key)
  expect(booked.body).toMatchObject({ success: true, guest_email: 'ann@example.com', guest_name: 'Ann' })
  const own = { ...asked, scheduledAt: slots.at(0)?.start, schedulerEmail: 'bob@example.com' }
  expect((await bob.rest('POST /api/scheduling/schedule', own, key)).body).toMatchObject({
    scheduler_wallet_address: bob.account,
    scheduler_email: 'bob@example.com',
  })
})

test('O71: an agent is told with its price and where it is asked', async () => {
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  const { agent: sold } = await alice.does('rest', agents.create, { name: 'Sold', visibility: 'public', ...price })
  const { agent: own } = await alice.does('rest', agents.create, { name: 'Own', ...price })
  const info = async (who: Person, id: string) => (await who.rest(`GET /api/agents/${id}`, null, key)).body
  expect(await info(bob, sold.id)).toMatchObject({
    agent: { id: sold.id, emoji: '🤖', features: { webSearch: false }, stats: { totalMessages: 0 } },
    pricing: { enabled: true, priceCents: 5, network: 'base-sepolia', currency: 'USDC' },
    endpoints: { chat: expect.stringContaining(`/api/public/agents/${sold.id}/chat`) },
  })
  expect(await info(alice, own.id)).toMatchObject({
    pricing: { enabled: false },
    endpoints: { chat: expect.stringMatching(new RegExp(`/api/agents/${own.id}/chat$`)) },
  })
})
