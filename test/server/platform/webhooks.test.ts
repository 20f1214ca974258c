// Modes: embedded, two-nodes-redis
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Webhooks } from '#server/domains/platform/webhooks/model'
import { accounts } from '#shared/api/people/accounts'
import { webhooks } from '#shared/api/platform/webhooks'
import { messages } from '#shared/api/rooms/messages'
import type { CallOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { badUrls, plainHttp } from '#test/support/bad-urls'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { alpha, channelOf, type Door, groupOf, moderates, over, type Person, person, say } from '#test/support/people'
import { receiver, signedBy } from '#test/support/receiver'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'
import { localServer, somewherePublic, webOver } from '#test/support/web'

let server: Booted
let root: Person
let owner: Person
let member: Person
let came: Awaited<ReturnType<typeof receiver>>
let canary: Awaited<ReturnType<typeof localServer>>
/** Where the names of hosts lead, beside that of the receiver. */
const leads = new Map<string, string[]>()

beforeAll(async () => {
  came = await receiver()
  canary = await localServer((_request, response) => response.end('The canary was asked'))
  const ports = { 'hooks.test': came.server.port, 'inward.test': canary.port }
  const resolve = async (host: string) => leads.get(host) ?? (host in ports ? [somewherePublic] : [])
  server = await boot({
    entry: 'in alpha',
    environment: { SUPER_ADMINS: wallet('hooks: root').address },
    services: { web: webOver(ports, { resolve }) },
  })
  root = await person(server, 'hooks: root')
  owner = await person(server, 'hooks: owner')
  member = await person(server, 'hooks: member')
})
afterAll(async () => {
  await server.close()
  await Promise.all([came.server.close(), canary.close()])
})

let paths = 0
const newPath = () => `/hook-${++paths}`
const urlOf = (path: string) => `https://hooks.test${path}`
type More = Partial<CallOf<typeof webhooks.create>>
const make = (by: Person, rooms: RoomRef[], path: string, more: More = {}, door: Door = 'rest') =>
  by.does(door, webhooks.create, { url: urlOf(path), rooms, ...more })
const read = async (by: Person, id: string) => (await by.does('rest', webhooks.read, { id })).webhook
const arrive = (path: string, texts: (string | null)[], seconds = 15) =>
  expect.poll(() => came.textsAt(path), { timeout: seconds * 1_000, interval: 50 }).toEqual(texts)

describe('N90: a webhook', () => {
  solo.each(over)('is made, read, listed, changed and removed over %s, and its secret is shown once', async (door) => {
    const maker = await person(server, `hooks: maker ${door}`)
    const room = await channelOf(maker)
    const made = await maker.does(door, webhooks.create, {
      ...{ url: urlOf('/unused#part'), rooms: [room], kinds: ['message.created'], description: 'Ours' },
    })
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made.webhook).toMatchObject({ url: urlOf('/unused'), rooms: [room], kinds: ['message.created'] })
    expect(made.webhook).toMatchObject({ description: 'Ours', enabled: true, stopped: null, failing_since: null })
    const { id } = made.webhook
    const listed = await maker.does(door, webhooks.list, {})
    expect(listed.webhooks).toMatchObject([{ id }])
    const one = await maker.does(door, webhooks.read, { id })
    const stored = await Webhooks.findOne({ _id: id }).lean()
    for (const told of [listed, one, stored]) expect(JSON.stringify(told)).not.toContain(made.secret)
    const changed = await maker.does(door, webhooks.update, { id, kinds: null, description: null, enabled: false })
    expect(changed.webhook).toMatchObject({ kinds: null, description: null, enabled: false, rooms: [room] })
    expect(changed.webhook.stopped).toMatchObject({ reason: 'PAUSED', room: null })
    const again = await maker.does(door, webhooks.update, { id, enabled: true })
    expect(again.webhook).toMatchObject({ enabled: true, stopped: null })
    const rotated = await maker.does(door, webhooks.rotate, { id })
    expect(rotated.secret).not.toBe(made.secret)
    await maker.does(door, webhooks.remove, { id })
    expect((await maker.does(door, webhooks.list, {})).webhooks).toEqual([])
  })

  solo.each(over)('is found by who made it alone, over %s', async (door) => {
    const room = await channelOf(owner, member)
    const { webhook } = await make(owner, [room], newPath())
    const { id } = webhook
    for (const other of [member, root]) {
      expect((await other.does(door, webhooks.list, {})).webhooks.map((one) => one.id)).not.toContain(id)
      const tried = [
        await other.refused(door, webhooks.read, { id }),
        await other.refused(door, webhooks.update, { id, enabled: false }),
        await other.refused(door, webhooks.rotate, { id }),
        await other.refused(door, webhooks.test, { id }),
        await other.refused(door, webhooks.deliveries, { id }),
        await other.refused(door, webhooks.replay, { id }),
        await other.refused(door, webhooks.remove, { id }),
      ]
      expect(tried.map(({ code }) => code)).toEqual(tried.map(() => 'NOT_FOUND'))
    }
    expect(await read(owner, id)).toMatchObject({ enabled: true })
  })

  solo.each(over)('is made by owners and admins of all its rooms alone, over %s', async (door) => {
    const [room, others] = [await channelOf(owner, member), await channelOf(root, owner)]
    const closed = await groupOf(owner)
    const input = (rooms: RoomRef[]) => ({ url: urlOf('/unused'), rooms })
    const refusal = async (who: Person, rooms: RoomRef[]) =>
      (await who.refused(door, webhooks.create, input(rooms))).code
    expect(await refusal(member, [room])).toBe('FORBIDDEN')
    expect(await refusal(owner, [room, others])).toBe('FORBIDDEN')
    expect(await refusal(owner, [alpha])).toBe('FORBIDDEN')
    expect(await refusal(member, [closed])).toBe('ROOM_NOT_FOUND')
    // Not even an admin of the server has what is said in a closed room sent away.
    expect(await refusal(root, [closed])).toBe('ROOM_NOT_FOUND')
    expect(await refusal(owner, [{ type: 'dm', id: [owner.account, member.account].sort().join('~') }])).toBe(
      'FORBIDDEN',
    )
    await moderates(owner, { room, action: 'ban', target: member.account, duration: '1h' })
    expect(await refusal(member, [room])).toBe('BANNED')
    const { webhook } = await make(owner, [room], newPath())
    const move = async (rooms: RoomRef[]) =>
      (await owner.refused(door, webhooks.update, { id: webhook.id, rooms })).code
    expect(await move([others])).toBe('FORBIDDEN')
    expect(await move([{ type: 'channel', id: 'nowhere' }])).toBe('ROOM_NOT_FOUND')
    const banned = await person(server, `hooks: banned ${door}`)
    const theirs = await channelOf(banned)
    const { webhook: its } = await make(banned, [theirs], newPath())
    await moderates(owner, { room, action: 'ban', target: banned.account, duration: '1h' })
    expect((await banned.refused(door, webhooks.update, { id: its.id, rooms: [room] })).code).toBe('BANNED')
    expect((await root.does(door, webhooks.create, input([room]))).webhook.rooms).toEqual([room])
  })

  test('sends the very events that clients are told, in their order, each signed', async () => {
    const [room, path] = [await channelOf(owner, member), newPath()]
    const { secret } = await make(owner, [room], path)
    const { id } = await say(owner, room, 'one')
    await member.does('rest', messages.send, { room, text: 'two' })
    await owner.does('rest', messages.remove, { room, id })
    await expect.poll(() => came.at(path).length, { timeout: 15_000 }).toBe(3)
    const { events } = await owner.does('rest', messages.sync, { room, after_seq: 0, limit: 100 })
    const sent = came.at(path).map(({ body }) => body)
    expect(sent.map(({ seq }) => seq)).toEqual(events.slice(-3).map(({ seq }) => seq))
    expect(sent.map(({ type }) => type)).toEqual(['message.created', 'message.created', 'message.deleted'])
    const { id: event, ...told } = sent[1] as { id: string }
    expect(told).toEqual(events.at(-2))
    expect(came.at(path)[1]?.headers).toMatchObject({ 'webhook-id': event, 'content-type': 'application/json' })
    for (const delivered of came.at(path)) expect(signedBy(delivered, [secret])).toEqual([secret])
    const others = new Set(came.at(path).map(({ headers }) => headers['webhook-id']))
    expect(others.size).toBe(3)
  })

  solo('sends the kinds of events that were asked for, from its making on', async () => {
    const [room, path] = [await channelOf(owner, member), newPath()]
    await say(owner, room, 'before')
    await make(owner, [room], path, { kinds: ['message.created'] })
    const { id } = await say(owner, room, 'one')
    await owner.does('rest', messages.remove, { room, id })
    await say(owner, room, 'two')
    await expect.poll(() => came.at(path).map(({ body }) => body.type), { timeout: 15_000 }).toHaveLength(2)
    expect(came.textsAt(path).at(-1)).toBe('two')
    expect(new Set(came.at(path).map(({ body }) => body.type))).toEqual(new Set(['message.created']))
  })

  solo('goes on where it was paused', async () => {
    const [room, path] = [await channelOf(owner), newPath()]
    const { webhook } = await make(owner, [room], path)
    const { id } = webhook
    await say(owner, room, 'one')
    await arrive(path, ['one'])
    await owner.does('rest', webhooks.update, { id, enabled: false })
    await say(owner, room, 'two')
    await say(owner, room, 'three')
    expect(came.textsAt(path)).toEqual(['one'])
    await owner.does('rest', webhooks.update, { id, enabled: true })
    await arrive(path, ['one', 'two', 'three'])
  })

  test('goes on in the rooms that it names, whoever changes them at once', heavy, async () => {
    const [one, other] = [await channelOf(owner), await channelOf(owner)]
    for (let round = 0; round < 6; round++) {
      const path = newPath()
      const { webhook } = await make(owner, [one], path, { kinds: ['message.created'] })
      const changed = [one, other].map((room) =>
        owner.tries('rest', webhooks.update, { id: webhook.id, rooms: [room] }),
      )
      await Promise.all(changed)
      const { rooms } = await read(owner, webhook.id)
      await say(owner, rooms[0] as RoomRef, `round ${round}`)
      await arrive(path, [`round ${round}`])
      await owner.does('rest', webhooks.remove, { id: webhook.id })
    }
  })

  solo.each(over)('is tested by a signed ping, over %s, which tells what came of it', async (door) => {
    const [room, path] = [await channelOf(owner), newPath()]
    const { webhook, secret } = await make(owner, [room], path)
    const { attempt } = await owner.does(door, webhooks.test, { id: webhook.id })
    expect(attempt).toMatchObject({ status: 204, error: null })
    const [ping] = came.at(path)
    expect(ping?.body).toMatchObject({ type: 'webhook.ping', data: { webhook: webhook.id } })
    expect(ping && signedBy(ping, [secret])).toEqual([secret])
    came.answers.set(path, 500)
    const failed = await owner.does(door, webhooks.test, { id: webhook.id })
    expect(failed.attempt).toMatchObject({ status: 500, error: 'The receiver answered 500' })
  })

  solo('is signed with both secrets for a day after another was made', async () => {
    const [room, path] = [await channelOf(owner), newPath()]
    const { webhook, secret } = await make(owner, [room], path)
    const { id } = webhook
    const other = await owner.does('rest', webhooks.rotate, { id })
    expect(other.webhook.previous_secret_until).not.toBeNull()
    await owner.does('rest', webhooks.test, { id })
    await Webhooks.updateOne({ _id: id }, { $set: { previous_until: new Date(Date.now() - 1_000) } })
    await owner.does('rest', webhooks.test, { id })
    const both = [secret, other.secret]
    expect(came.at(path).map((one) => signedBy(one, both))).toEqual([both, [other.secret]])
    expect((await read(owner, id)).previous_secret_until).toBeNull()
  })

  test('stops when its maker may not read any more, and says where', async () => {
    const admin = await person(server, 'hooks: admin')
    await root.does('rest', accounts.grantAdmin, { walletAddress: admin.account, makeSuperAdmin: false })
    const [room, path] = [await channelOf(owner), newPath()]
    const { webhook } = await make(admin, [room], path)
    await say(owner, room, 'one')
    await arrive(path, ['one'])
    await root.does('rest', accounts.revokeAdmin, { address: admin.account })
    await say(owner, room, 'two')
    await expect
      .poll(() => read(admin, webhook.id), { timeout: 15_000 })
      .toMatchObject({
        enabled: false,
        stopped: { reason: 'RIGHT_LOST', room },
      })
    expect(came.textsAt(path)).toEqual(['one'])
    expect((await admin.refused('rest', webhooks.update, { id: webhook.id, enabled: true })).code).toBe('FORBIDDEN')
  })

  test('of somebody who is suspended sends nothing; they may remove it, and do nothing else with it', async () => {
    const maker = await person(server, 'hooks: suspended')
    const [room, path] = [await channelOf(maker, member), newPath()]
    const { webhook } = await make(maker, [room], path)
    const { id } = webhook
    await root.does('rest', accounts.suspend, { userAddress: maker.account, ban: true })
    await say(member, room, 'one')
    await expect.poll(() => read(maker, id), { timeout: 15_000 }).toMatchObject({ stopped: { reason: 'RIGHT_LOST' } })
    expect(came.at(path)).toEqual([])
    for (const door of over) {
      const tried = [
        await maker.refused(door, webhooks.create, { url: urlOf(path), rooms: [room] }),
        await maker.refused(door, webhooks.update, { id, enabled: true }),
        await maker.refused(door, webhooks.rotate, { id }),
        await maker.refused(door, webhooks.test, { id }),
        await maker.refused(door, webhooks.replay, { id }),
      ]
      expect(tried.map(({ code }) => code)).toEqual(tried.map(() => 'SUSPENDED'))
    }
    await maker.does('rest', webhooks.remove, { id })
  })

  solo('is one of twenty of an account, and of a room', async () => {
    const maker = await person(server, 'hooks: many')
    const room = await channelOf(maker)
    const asked = Array.from({ length: 25 }, () =>
      maker.tries('rest', webhooks.create, { url: urlOf('/unused'), rooms: [room] }),
    )
    const answers = await Promise.all(asked)
    const made = answers.flatMap((one) => (one.ok ? [one.data.webhook.id] : []))
    expect(made).toHaveLength(20)
    expect(answers.flatMap((one) => (one.ok ? [] : [one.error.code]))).toEqual(Array(5).fill('CONFLICT'))
    expect((await root.refused('rest', webhooks.create, { url: urlOf('/unused'), rooms: [room] })).code).toBe(
      'CONFLICT',
    )
    for (const id of made) await maker.does('rest', webhooks.remove, { id })
  })
})

describe('N90: a receiver of webhooks', () => {
  solo('knows by the words of the documentation who has sent a delivery', async () => {
    const [room, path] = [await channelOf(owner), newPath()]
    const { webhook, secret } = await make(owner, [room], path)
    await owner.does('rest', webhooks.test, { id: webhook.id })
    const [{ headers, text } = { headers: {}, text: '' }] = came.at(path)
    const [, code = ''] = /```js\n([\s\S]+?)```/.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? []
    const { verifyWebhook } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
    const verify = (changed: Record<string, string | undefined>, body = text, by = secret): unknown =>
      verifyWebhook(by, { ...headers, ...changed }, body)
    expect(verify({})).toBe(true)
    const signature = String(new Headers(headers as Record<string, string>).get('webhook-signature'))
    expect(verify({ 'webhook-signature': `v1,${'A'.repeat(43)}= ${signature}` })).toBe(true)
    expect(verify({}, `${text} `)).toBe(false)
    expect(verify({}, text, `whsec_${Buffer.alloc(24).toString('base64')}`)).toBe(false)
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      for (const value of [undefined, '', ' ', '0', 'v1,', 'v1,AAAA', signature.slice(0, -4), 'é'.repeat(44)])
        expect([name, value, verify({ [name]: value })]).toEqual([name, value, false])
    expect(verify({ 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 301) })).toBe(false)
  })

  solo.each(Object.entries({ ...badUrls, 'plain HTTP': plainHttp }))('is not %s', async (_what, urls) => {
    const room = await channelOf(owner)
    for (const url of urls.filter((one) => one !== '' && one.length < 2_000)) {
      const refused = await owner.refused('rest', webhooks.create, { url, rooms: [room] })
      expect([url, refused.status]).toEqual([url, 400])
    }
    expect(canary.hits).toBe(0)
  })

  solo.each([
    ['127.0.0.1', ['127.0.0.1']],
    ['::1', ['::1']],
    ['metadata', ['169.254.169.254']],
    ['one public and one private address', [somewherePublic, '10.0.0.1']],
  ])('whose name leads to %s is not asked', async (_where, addresses) => {
    const room = await channelOf(owner)
    leads.set('inward.test', [somewherePublic])
    const { webhook } = await owner.does('rest', webhooks.create, { url: 'https://inward.test/', rooms: [room] })
    leads.set('inward.test', addresses)
    const { attempt } = await owner.does('rest', webhooks.test, { id: webhook.id })
    expect(attempt).toMatchObject({ status: null, error: 'The receiver could not be reached' })
    expect(canary.hits).toBe(0)
    await owner.does('rest', webhooks.remove, { id: webhook.id })
  })

  solo.each([301, 302, 307, 308])('that redirects by %i has not taken it, and is not followed', async (status) => {
    const [room, path] = [await channelOf(owner), newPath()]
    leads.set('inward.test', [somewherePublic])
    for (const location of ['https://inward.test/', 'https://127.0.0.1/', '/elsewhere']) {
      came.answers.set(path, (response) => response.writeHead(status, { location }).end())
      const { webhook } = await make(owner, [room], path)
      const { attempt } = await owner.does('rest', webhooks.test, { id: webhook.id })
      expect(attempt).toMatchObject({ status, error: `The receiver answered ${status}` })
      await owner.does('rest', webhooks.remove, { id: webhook.id })
    }
    expect(canary.hits).toBe(0)
    expect(came.at('/elsewhere')).toEqual([])
  })

  solo('that answers 10 MB, or drips for ever, has taken it, and nothing of that is read', async () => {
    const [room, path] = [await channelOf(owner), newPath()]
    let written = 0
    let isClosed = false
    came.answers.set(path, (response) => {
      response.on('close', () => {
        isClosed = true
      })
      response.writeHead(200)
      const more = () => {
        if (written >= 10_000_000 || response.destroyed) return
        written += 10_000
        response.write('x'.repeat(10_000), more)
      }
      more()
    })
    await make(owner, [room], path)
    await say(owner, room, 'one')
    await say(owner, room, 'two')
    await arrive(path, ['one', 'two'])
    await expect.poll(() => isClosed).toBe(true)
    expect(written).toBeLessThan(10_000_000)
  })

  solo('that never answers holds up no other, and is asked again', heavy, async () => {
    const [room, hanging, sound] = [await channelOf(owner), newPath(), newPath()]
    came.answers.set(hanging, () => {})
    const { webhook } = await make(owner, [room], hanging)
    await make(owner, [room], sound)
    await say(owner, room, 'one')
    await expect.poll(() => came.at(hanging).length, { timeout: 15_000 }).toBe(1)
    await say(owner, room, 'two')
    await arrive(sound, ['one', 'two'])
    expect(came.at(hanging)).toHaveLength(1)
    const hung = async () => (await owner.does('rest', webhooks.deliveries, { id: webhook.id })).deliveries
    await expect
      .poll(hung, { timeout: 20_000, interval: 200 })
      .toMatchObject([{ state: 'retrying', status: null, error: 'No answer within 10 seconds' }])
    came.answers.delete(hanging)
    await arrive(hanging, ['one', 'one', 'two'], 30)
  })
})
