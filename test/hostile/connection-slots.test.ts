// Modes: embedded
import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type RequestOptions } from 'node:http'
import { v7 } from 'uuid'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { addressOf, readProxies } from '#server/kernel/addresses'
import { budgets } from '#server/kernel/limits/budgets'
import { memoryKv } from '#server/ports/kv/memory'
import { reportTypes } from '#shared/api/moderation/social'
import { heavy } from '#test/support/heavy'
import { personAt } from '#test/support/people'
import { at, openProxy, standing } from '#test/support/proxy'
import { dial } from '#test/support/raw-connection'
import { call, wallet } from '#test/support/wallet'
import { openChangedServer } from './changed-server.ts'
import { openWire, request, sendBytes } from './wire.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

let aheadMilliseconds = 0
const minute = 61_000

/** A server with the real limits, and a proxy before it where one is trusted; time is the test's. */
async function open(environment: Record<string, string> = {}) {
  const server = await openChangedServer({ RATE_LIMIT_SCALE: '1', ...environment }, (platform) => ({
    ...platform,
    kv: memoryKv(),
    database: { ...platform.database, now: () => Date.now() + aheadMilliseconds },
  }))
  cleanups.push(server.close)
  const isBehind = environment.TRUSTED_PROXIES !== undefined
  const proxy = isBehind ? await openProxy(server.url) : null
  if (proxy) cleanups.push(proxy.close)
  return { url: proxy?.url ?? server.url, own: server.url }
}

const status = async (url: string, headers = {}) =>
  fetch(`${url}/api/status`, { headers }).then(
    (answer) => answer.status,
    () => 0,
  )
/** The answer to a handshake that is refused. */
async function handshake(url: string): Promise<IncomingMessage> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const [answer] = await once(get(`${url}/socket.io/?EIO=4&transport=websocket`, { headers: upgrade }), 'response')
  return (answer as IncomingMessage).resume()
}
/** An address that has opened its 200 connections of this second opens the next one later. */
async function live(url: string, token: string, headers = {}) {
  const open = () => openWire(url, '/rooms', { token }, headers)
  const wire = await vi.waitFor(open, { timeout: 10_000, interval: 250 })
  cleanups.push(wire.close)
  return wire
}
const isIn = (wire: { answer: string }) => wire.answer.startsWith('40')

/** Each signs in in a minute of its own, as one address may not sign in more often. */
async function crowd(url: string, name: string, count: number, headers = {}) {
  const people = []
  for (let one = 0; one < count; one++) {
    if (one % 8 === 7) aheadMilliseconds += minute
    people.push(await personAt(url, `${name} ${one}`, headers))
  }
  return people
}

/** So many connections of one person as anybody may have. */
async function hoard(url: string, token: string, headers = {}) {
  aheadMilliseconds += minute
  const wires = []
  for (let one = 0; one < 10; one++) wires.push(await live(url, token, headers))
  return wires
}

const waysToTrust = [
  ['by their number', '1'],
  ['by their address', '10.0.0.0/8, 127.0.0.1'],
] as const

describe.each(waysToTrust)('M02: behind a proxy that is trusted %s', (_title, TRUSTED_PROXIES) => {
  test('eighty people at eighty addresses are connected at once', heavy, async () => {
    const { url } = await open({ TRUSTED_PROXIES })
    const one = await personAt(url, 'crowd', at('203.0.113.1'))
    const wires = []
    for (let client = 0; client < 80; client++)
      wires.push(await openWire(url, '/rooms', undefined, at(`198.51.100.${client}`)))
    expect(wires.every(({ socket }) => socket.readyState === socket.OPEN)).toBe(true)
    for (const wire of wires) wire.close()
    expect(isIn(await live(url, one.token, at('198.51.100.200')))).toBe(true)
  })

  test('who holds all places of an address takes none from another, whatever they write before it', heavy, async () => {
    const { url } = await open({ TRUSTED_PROXIES })
    const [greedy] = await crowd(url, 'greedy', 1, at('203.0.113.2'))
    await hoard(url, greedy?.token ?? '', at('203.0.113.2'))
    const refused = []
    for (let one = 0; one < 70; one++) {
      const headers = at('203.0.113.2', { 'x-forwarded-for': `10.1.1.${one}, 192.0.2.${one}` })
      refused.push(
        await openWire(url, '/rooms', undefined, headers).then(
          (wire) => {
            cleanups.push(wire.close)
            return false
          },
          () => true,
        ),
      )
    }
    expect(refused.filter(Boolean).length).toBeGreaterThanOrEqual(10)
    expect(await status(url, at('203.0.113.3'))).toBe(200)
    await openWire(url, '/rooms', undefined, at('203.0.113.3')).then((wire) => wire.close())
  })

  test('a network of /64 is one client, whatever address of it is used', async () => {
    const { url } = await open({ TRUSTED_PROXIES })
    const statuses: number[] = []
    for (let one = 0; one < 62; one++) {
      const address = one % 2 === 0 ? `2001:db8:7:1::${one.toString(16)}` : `2001:DB8:7:1:0:${one}:0:1`
      const opened = openWire(url, '/rooms', undefined, at(address))
      statuses.push(
        await opened.then(
          (wire) => {
            wire.close()
            return 101
          },
          () => 429,
        ),
      )
    }
    expect(statuses.filter((one) => one === 429)).toHaveLength(2)
    await openWire(url, '/rooms', undefined, at('2001:db8:7:2::1')).then((wire) => wire.close())
  })

  test('who shows a session has a place where strangers at the same address hold all of theirs', heavy, async () => {
    const { url } = await open({ TRUSTED_PROXIES })
    const member = await personAt(url, 'colleague', at('203.0.113.4'))
    const { body } = await call(url, 'GET /api/rooms/alpha/events?after_seq=0', null)
    const poll = `GET /api/rooms/alpha/events?after_seq=${body.head_seq}&wait=25`
    const waiting = Array.from({ length: budgets.connectionsOfAddress.anonymous.most + 20 }, () =>
      dial(url)
        .on('error', () => undefined)
        .on('data', () => refused++),
    )
    let refused = 0
    cleanups.push(() => waiting.map((socket) => socket.destroy()))
    for (const socket of waiting) socket.write(request(poll, [`${standing}: 203.0.113.4`]))
    await expect.poll(() => refused, { interval: 5 }).toBe(20)
    const shown = at('203.0.113.4', { authorization: `Bearer ${member.token}` })
    expect(await Promise.all(Array.from({ length: 30 }, () => status(url, shown)))).toEqual(Array(30).fill(200))
    expect(isIn(await live(url, member.token, shown))).toBe(true)
  })

  test('connections that the proxy keeps open belong to nobody between requests', heavy, async () => {
    const { url } = await open({ TRUSTED_PROXIES })
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 90 }, (_, one) => status(url, at(`198.51.100.${one}`))))
      expect(answers).toEqual(Array(90).fill(200))
    }
  })
})

test('M02: a header is believed from trusted addresses alone, and no further than they go', () => {
  const proxies = readProxies(['10.0.0.0/8', '2001:db8:9::/48'])
  if (!proxies) throw new Error('not read')
  const chains: [header: string, remote: string, client: string][] = [
    ['203.0.113.7', '10.0.0.1', '203.0.113.7'],
    ['203.0.113.7', '::ffff:10.0.0.1', '203.0.113.7'],
    ['203.0.113.7', '192.0.2.1', '192.0.2.1'],
    ['1.1.1.1, 203.0.113.7', '10.0.0.1', '203.0.113.7'],
    ['203.0.113.7, 10.0.0.9', '10.0.0.1', '203.0.113.7'],
    ['1.1.1.1, 203.0.113.7, 10.0.0.9', '2001:db8:9::1', '203.0.113.7'],
    ['203.0.113.7, nonsense', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.3', '10.0.0.1', '10.0.0.3'],
    ['', '10.0.0.1', '10.0.0.1'],
    ['::ffff:cb00:7107', '10.0.0.1', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '10.0.0.1', '203.0.113.7'],
    ['64:ff9b::cb00:7107', '10.0.0.1', '203.0.113.7'],
    ['2001:db8::1%eth0', '10.0.0.1', '2001:db8:0:0::/64'],
  ]
  expect(chains.map(([header, remote]) => addressOf(header, proxies, remote))).toEqual(
    chains.map(([, , client]) => client),
  )
  for (const wrong of ['10.0.0.0/33', '10.0.0', 'proxy', '::/129', '10.0.0.0/8/8', '10.0.0.0/'])
    expect(readProxies([wrong])).toBeNull()
})

describe('M02: strangers at one address, such as that of a company', () => {
  test('five guests with all the connections they may have do not shut it', heavy, async () => {
    const { url } = await open()
    const guests = await crowd(url, 'throw-away', 5)
    for (const guest of guests) await hoard(url, guest.token)
    expect(await status(url)).toBe(200)
    aheadMilliseconds += minute
    const other = await personAt(url, 'somebody else')
    expect(isIn(await live(url, other.token))).toBe(true)
  })

  test('anonymous connections give way, the idle and the half-asked first, and never to shut others out', async () => {
    const { url } = await open()
    const member = await personAt(url, 'member')
    const wire = await live(url, member.token)
    const idle = Array.from({ length: 40 }, () => dial(url))
    const slow = Array.from({ length: 40 }, () => {
      const socket = dial(url)
      socket.write(
        'POST /api/auth/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
      )
      return socket
    })
    for (const socket of [...idle, ...slow]) socket.on('error', () => undefined)
    cleanups.push(() => [...idle, ...slow].map((socket) => socket.destroy()))
    await expect.poll(() => [...idle, ...slow].filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(30)
    expect(await status(url)).toBe(200)
    expect((await wire.ask('room:list', '{}'))?.ok).toBe(true)
  })

  test(
    'answers that are waited for and connections that never say whose they are give way after a second',
    heavy,
    async () => {
      const { url } = await open()
      const member = await personAt(url, 'member')
      const { body } = await call(url, 'GET /api/rooms/alpha/events?after_seq=0', null)
      const poll = `GET /api/rooms/alpha/events?after_seq=${body.head_seq}&wait=25`
      const follow = `GET /api/rooms/alpha/events?after_seq=${body.head_seq}&follow=true`
      const asks = (line: string) => () =>
        void dial(url)
          .on('error', () => undefined)
          .write(request(line))
      // On a busy machine one may have to give way before it is open.
      const opens = async () => {
        const wire = openWire(url, '/rooms', undefined).then(({ close }) => void cleanups.push(close))
        await Promise.race([wire, new Promise((resolve) => setTimeout(resolve, 1_500))])
      }
      const holds = [asks(poll), asks(follow), opens]
      for (const hold of holds) {
        for (let one = 0; one < budgets.connectionsOfAddress.anonymous.most; one++) await hold()
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        expect((await sendBytes(url, request('GET /api/status'))).status).toBe(200)
        aheadMilliseconds += minute
        expect(isIn(await live(url, member.token))).toBe(true)
      }
    },
  )

  test('connections that a signed-in person keeps open are not counted among the anonymous', heavy, async () => {
    const { url } = await open()
    const member = await personAt(url, 'keeper')
    const agent = new Agent({ keepAlive: true })
    cleanups.push(() => agent.destroy())
    const options: RequestOptions = { agent, headers: { authorization: `Bearer ${member.token}` } }
    const ask = async () => {
      const [answer] = await once(get(`${url}/api/user/rooms`, options), 'response')
      const { socket } = answer as IncomingMessage
      answer.resume()
      await once(answer, 'end')
      return socket
    }
    const kept = await Promise.all(Array.from({ length: 20 }, ask))
    const idle = Array.from({ length: 100 }, () => dial(url).on('error', () => undefined))
    cleanups.push(() => idle.map((socket) => socket.destroy()))
    await expect.poll(() => idle.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(50)
    expect(kept.filter(({ destroyed }) => destroyed)).toEqual([])
  })

  test('guests share their own places, whoever holds most gives way, and people of yesterday keep theirs', {
    ...heavy,
    timeout: 120_000,
  }, async () => {
    const { url } = await open()
    const old = await personAt(url, 'of yesterday')
    await Accounts.updateOne({ _id: old.account }, { user_id: v7({ msecs: Date.now() - 2 * 24 * 3_600_000 }) })
    const regular = await personAt(url, 'of yesterday')
    const guests = await crowd(url, 'guest', budgets.connectionsOfAddress.guest.most / 10)
    const theirs: Awaited<ReturnType<typeof hoard>> = []
    for (const guest of guests) theirs.push(...(await hoard(url, guest.token)))
    expect(theirs.every(isIn)).toBe(true)
    aheadMilliseconds += minute
    const own = await live(url, regular.token)
    expect(isIn(own)).toBe(true)
    expect(theirs.every(({ socket }) => socket.readyState === socket.OPEN)).toBe(true)
    const late = await personAt(url, 'late guest')
    expect(isIn(await live(url, late.token))).toBe(true)
    await expect.poll(() => theirs.filter(({ socket }) => socket.readyState !== socket.OPEN).length).toBe(1)
    expect(own.socket.readyState).toBe(own.socket.OPEN)
  })

  test('handshakes and requests that strangers have used up are left to those who are signed in', heavy, async () => {
    const { url } = await open()
    const member = await personAt(url, 'busy')
    const bearer = { authorization: `Bearer ${member.token}` }
    for (let one = 0; one < 60; one++) await openWire(url, '/rooms', undefined).then((wire) => wire.close())
    await expect(openWire(url, '/rooms', undefined)).rejects.toThrow('refused: 429')
    const refused = await handshake(url)
    expect(refused.statusCode).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
    const wire = await openWire(url, '/rooms', { token: member.token }, { cookie: `app_session=${member.token}` })
    expect(isIn(wire)).toBe(true)
    wire.close()
    const agent = new Agent({ keepAlive: true, maxSockets: 20 })
    cleanups.push(() => agent.destroy())
    const flood = async () => {
      const [answer] = await once(get(`${url}/api/nowhere`, { agent }), 'response')
      answer.resume()
      await once(answer, 'end')
    }
    for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 100 }, flood))
    expect(await status(url)).toBe(429)
    expect(await status(url, bearer)).toBe(200)
    expect(await status(url, { authorization: 'Bearer nonsense' })).toBe(429)
  })
})

describe('M02: RATE_LIMIT_SCALE loosens no guard against guessing', () => {
  const loose = { RATE_LIMIT_SCALE: '1000' }
  const statuses = async (count: number, ask: () => Promise<{ status: number }>) => {
    const seen = []
    for (let one = 0; one < count; one++) seen.push((await ask()).status)
    return seen
  }
  const guesses: [what: string, route: string, body: object, allowed: number][] = [
    ['nonces', `GET /api/auth/verify?address=${wallet('guessed').address}`, {}, 10],
    ['signatures', 'POST /api/auth/verify', { address: wallet('guessed').address, message: 'm', signature: '0x00' }, 5],
    ['codes of letters', 'POST /api/email/login/verify', { email: 'a@people.test', code: '000000' }, 10],
    ['codes of recovery', 'POST /api/passkey/recover/email/verify', { email: 'b@people.test', code: '000000' }, 10],
    ['letters to somebody', 'POST /api/email/login/send-code', { email: 'c@people.test' }, 3],
    ['links to somebody', 'POST /api/email/login/send-link', { email: 'd@people.test' }, 3],
    ['letters of recovery', 'POST /api/passkey/recover/email', { email: 'e@people.test' }, 3],
    ['passkeys', 'POST /api/passkey/login/options', { userAddress: wallet('guessed').address }, 10],
  ]
  test.each(guesses)('%s', async (_what, route, body, allowed) => {
    const { url } = await open(loose)
    const seen = await statuses(allowed + 3, () => call(url, route, route.startsWith('GET') ? null : body))
    expect(seen.slice(0, allowed)).not.toContain(429)
    expect(seen.slice(allowed)).toEqual([429, 429, 429])
    const other = JSON.parse(
      JSON.stringify(body)
        .replace(/.@people/, 'z@people')
        .replace(/0x[0-9a-f]{40}/i, wallet('other').address),
    )
    const elsewhere = route.replace(/0x[0-9a-f]{40}/i, wallet('other').address)
    expect((await call(url, elsewhere, route.startsWith('GET') ? null : other)).status).not.toBe(429)
  })

  test('texts to a phone', async () => {
    const { url } = await open(loose)
    const one = await personAt(url, 'texting')
    const ask = () => one.rest('POST /api/phone/send-code', { phoneNumber: '+15005550006' })
    expect(await statuses(5, ask)).toEqual([200, 200, 200, 429, 429])
  })

  test('and load is let through as before', heavy, async () => {
    const { url } = await open(loose)
    expect(await statuses(150, () => fetch(`${url}/api/channels`))).toEqual(Array(150).fill(200))
    const sockets = Array.from({ length: 80 }, () => dial(url).on('error', () => undefined))
    cleanups.push(() => sockets.map((socket) => socket.destroy()))
    expect((await sendBytes(url, request('GET /api/status'))).status).toBe(200)
    expect(sockets.filter(({ closed }) => closed)).toEqual([])
  })
})

describe('M33: tiers are those of the documents, and people behind one address do not share a sign-in', () => {
  test('thirty people at one address sign in within a minute, and one of them tries five times and no more', async () => {
    const { url } = await open()
    const signedIn = []
    for (let one = 0; one < 30; one++) signedIn.push((await personAt(url, `employee ${one}`)).token)
    expect(new Set(signedIn).size).toBe(30)
    const input = { address: wallet('target').address, message: 'm', signature: '0x00' }
    const seen = []
    for (let one = 0; one < 7; one++) seen.push((await call(url, 'POST /api/auth/verify', input)).status)
    expect(seen).toEqual([401, 401, 401, 401, 401, 429, 429])
  })

  test('O81: who opens the page again and again is let in, and has no more tries at a sign-in by it', async () => {
    const { url } = await open()
    const who = await personAt(url, 'reloading')
    const seen = new Set<number>()
    for (let one = 0; one < 120; one++) seen.add((await call(url, 'GET /api/auth/session', null, who.token)).status)
    expect([...seen]).toEqual([200])
    const outcomes = []
    for (let one = 0; one < 7; one++)
      outcomes.push(
        (await call(url, 'POST /api/auth/verify', { address: who.account, message: 'm', signature: '0x' })).status,
      )
    expect(outcomes.slice(-2)).toEqual([429, 429])
  })

  test('an address has ten times as many claims as one claim has tries', async () => {
    const { url } = await open()
    const seen = []
    for (let one = 0; one < 52; one++) {
      const input = { address: wallet(`claimed ${one}`).address, message: 'm', signature: '0x00' }
      seen.push((await call(url, 'POST /api/auth/verify', input)).status)
    }
    expect(seen).toEqual([...Array(50).fill(401), 429, 429])
  })

  test('who is raided reports sixty in an hour, of everybody who is there, and no more', heavy, async () => {
    const { url } = await open()
    const [raided, raider] = [await personAt(url, 'raided'), await personAt(url, 'raider')]
    const report = (reportType: string) =>
      raided.rest('POST /api/users/report', { reportedAddress: raider.account, reportType })
    for (const type of reportTypes) expect([type, (await report(type)).status]).toEqual([type, 200])
    for (let more = reportTypes.length; more < 60; more++)
      expect(await report('spam')).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    const refused = await report('spam')
    expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
  })

  const documented: [route: string, body: object | null, isSignedIn: boolean, limit: number][] = [
    ['GET /api/auth/verify?address=0x0000000000000000000000000000000000000001', null, false, 10],
    [
      'POST /api/auth/verify',
      { address: '0x0000000000000000000000000000000000000001', message: 'm', signature: '0x' },
      false,
      5,
    ],
    ['POST /api/email/login/send-code', { email: 'tier@people.test' }, false, 10],
    ['POST /api/email/login/send-link', { email: 'tier@people.test' }, false, 10],
    ['POST /api/email/send-code', { email: 'tier@people.test' }, false, 10],
    ['POST /api/passkey/login/options', {}, false, 10],
    ['GET /api/auth/session', null, true, 300],
    ['POST /api/channels', { name: 'Tiers' }, true, 100],
    ['POST /api/groups', { name: 'Tiers', memberAddresses: [] }, true, 100],
    ['POST /api/wallet/onramp/session', { address: '0x0000000000000000000000000000000000000001' }, true, 100],
    ['POST /api/phone/send-code', { phoneNumber: '+15005550006' }, true, 100],
    ['POST /api/phone/lookup', { phone: '+15005550006' }, true, 100],
    ['POST /api/alpha/messages', { content: 'hello' }, true, 60],
    ['POST /api/users/report', { reportedAddress: 'nobody', reportType: 'spam' }, true, 100],
    ['GET /api/github/issues', null, true, 100],
    ['GET /api/github/issues/1', null, true, 100],
    ['GET /api/calendar/connect', null, true, 100],
    ['GET /api/passkey/recover', null, true, 10],
  ]
  test('each path says its own', heavy, async () => {
    const { url } = await open()
    const { token } = await personAt(url, 'reader of headers')
    const limits = []
    for (const [route, body, isSignedIn] of documented) {
      const { headers } = await call(url, route, body, isSignedIn ? token : undefined)
      limits.push([route, Number(headers.get('x-ratelimit-limit'))])
    }
    expect(limits).toEqual(documented.map(([route, , , limit]) => [route, limit]))
  })
})
