// Modes: embedded
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { checkSignature, readMessage } from '#server/domains/people/identity/siwe'
import { openChains } from '#server/ports/chain/viem'
import { boot } from '#test/support/boot'
import { begin, call, connect, heard, signed, signIn, type Wallet, wallet } from '#test/support/wallet'

let server: Awaited<ReturnType<typeof boot>>
let url: string
beforeAll(async () => {
  server = await boot({ environment: { RPC_URL_10: 'http://127.0.0.1:1' } })
  url = server.url
})
afterAll(() => server.close())

const verify = async (body: object) => call(url, 'POST /api/auth/verify', body)
const verifyChanged = async (who: Wallet, change: (message: string) => string) => verify(await signed(url, who, change))

const Vectors = z.object({
  address: z.string(),
  vectors: z.array(z.object({ label: z.string(), message: z.string(), signature: z.string() })),
})
const { address, vectors } = Vectors.parse(JSON.parse(readFileSync('test/vectors/siwe.json', 'utf8')))

test.each(vectors)('the message of another implementation is read and its signature holds: $label', async (vector) => {
  const { message, signature } = vector
  expect(await readMessage(message, address)).toMatchObject({ address, domain: 'localhost:3000', chainId: 8453 })
  await expect(checkSignature(undefined, address, message, signature)).resolves.toBeUndefined()
  const other = checkSignature(undefined, address, `${message} `, signature)
  await expect(other).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' })
})

describe('a contract that signs', () => {
  const chainAt = (url: string) => openChains(new Map([[10, url]])).get(10)
  const Asked = z.object({ id: z.number(), method: z.string() })
  /** A chain that has an answer for every question about a signature. */
  async function chain(verdict: '0x0' | '0x1', status = 200) {
    const rpc = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const { id, method } = Asked.parse(JSON.parse(Buffer.concat(parts).toString()))
        const result = method === 'eth_call' ? verdict : '0x'
        const answered = request.url === '/elsewhere' ? 200 : status
        response.writeHead(answered, { 'content-type': 'application/json', location: '/elsewhere' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      })
    })
    await new Promise<void>((resolve) => rpc.listen(0, '127.0.0.1', resolve))
    const { port } = rpc.address() as AddressInfo
    return { rpcUrl: `http://127.0.0.1:${port}`, close: () => rpc.close() }
  }

  test.each([
    ['is believed when its chain says so', '0x1', 200, null],
    ['is refused when its chain says no', '0x0', 200, 'INVALID_SIGNATURE'],
    ['is not judged when its chain cannot be asked', '0x1', 500, 'UPSTREAM_ERROR'],
    ['is not judged when its chain sends elsewhere', '0x1', 307, 'UPSTREAM_ERROR'],
  ] as const)('%s', async (_title, verdict, status, code) => {
    const { rpcUrl, close } = await chain(verdict, status)
    const judged = checkSignature(chainAt(rpcUrl), address, 'anything', `0x${'ab'.repeat(200)}`)
    if (code === null) await expect(judged).resolves.toBeUndefined()
    else await expect(judged).rejects.toMatchObject({ code })
    close()
  })

  test('signs nobody in while its chain cannot be asked', async () => {
    const onThatChain = (message: string) => message.replace(/Chain ID: \d+/, 'Chain ID: 10')
    const body = { ...(await signed(url, wallet('contract'), onThatChain)), signature: `0x${'ab'.repeat(200)}` }
    const answer = await call(url, 'POST /api/auth/verify', body)
    expect(answer).toMatchObject({ status: 502, code: 'UPSTREAM_ERROR' })
  })

  test('a key needs no chain', async () => {
    const who = wallet('offline')
    const signature = await who.signMessage({ message: 'hello' })
    await expect(
      checkSignature(chainAt('http://127.0.0.1:1'), who.address, 'hello', signature),
    ).resolves.toBeUndefined()
  })
})

describe('signing in with a wallet', () => {
  test('a signed message begins a session and makes the account', async () => {
    const { answer, sessionToken, address } = await signIn(url, wallet('first'))
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: true,
      verified: true,
      authenticated: true,
      userAddress: address,
      user: { wallet_address: address, wallet_type: 'eoa', username: null, is_banned: false, role: 'user' },
    })
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie).toContain(`app_session=${sessionToken}`)
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/', 'Max-Age=604800'])
      expect(cookie).toContain(attribute)
    const again = await signIn(url, wallet('first'))
    expect(again.answer.body.user).toEqual(answer.body.user)
    expect(again.sessionToken).not.toBe(sessionToken)
  })

  test('the message has the lines of the standard and names the site that was asked', async () => {
    const who = wallet('lines')
    const { message, nonce } = await begin(url, who)
    const lines = message.split('\n')
    expect(lines[0]).toMatch(/^\S+ wants you to sign in with your Ethereum account:$/)
    expect(lines[1]).toBe(who.address)
    expect(lines).toContain('Version: 1')
    expect(lines).toContain(`Nonce: ${nonce}`)
  })

  test.each([
    ['no address', '', 'VALIDATION_ERROR', 400],
    ['no wallet address', '?address=email:abc', 'VALIDATION_ERROR', 400],
    ['a chain that is not offered', `?address=${wallet('x').address}&chainId=424242`, 'CHAIN_NOT_SUPPORTED', 400],
  ])('no message for %s', async (_title, query, code, status) => {
    expect(await call(url, `GET /api/auth/verify${query}`)).toMatchObject({ status, code })
  })

  test.each(['address', 'message', 'signature'])('%s may not be left out', async (field) => {
    const body = { ...(await signed(url, wallet('partial'))), [field]: undefined }
    expect(await verify(body)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test('a signature of somebody else is refused, and leaves the nonce usable', async () => {
    const body = await signed(url, wallet('victim'))
    const signature = await wallet('thief').signMessage({ message: body.message })
    const refused = await verify({ ...body, signature })
    expect(refused).toMatchObject({ status: 401, code: 'INVALID_SIGNATURE', body: { error: 'Invalid signature' } })
    expect((await verify(body)).status).toBe(200)
  })

  test('a message with another address than the claimed one is refused', async () => {
    const body = await signed(url, wallet('claimed'))
    const address = wallet('other').address
    expect(await verify({ ...body, address })).toMatchObject({ status: 401, code: 'INVALID_SIGNATURE' })
  })

  test.each([
    ['another domain', (m: string) => m.replace(/^\S+/, 'evil.example'), 'INVALID_DOMAIN'],
    ['another URI', (m: string) => m.replace(/URI: \S+/, 'URI: https://evil.example'), 'INVALID_DOMAIN'],
    ['another chain', (m: string) => m.replace(/Chain ID: \d+/, 'Chain ID: 424242'), 'CHAIN_NOT_SUPPORTED'],
    ['another version', (m: string) => m.replace('Version: 1', 'Version: 2'), 'INVALID_SIGNATURE'],
    ['an unknown nonce', (m: string) => m.replace(/Nonce: \w+/, 'Nonce: abcdefgh12345678'), 'INVALID_NONCE'],
    ['a second nonce line', (m: string) => `${m}\nNonce: abcdefgh12345678`, 'INVALID_SIGNATURE'],
    [
      'an expiration that has passed',
      (m: string) => `${m}\nExpiration Time: 2020-01-01T00:00:00.000Z`,
      'NONCE_EXPIRED',
    ],
    [
      'a time before which it is not good',
      (m: string) => `${m}\nNot Before: 2999-01-01T00:00:00.000Z`,
      'INVALID_SIGNATURE',
    ],
    ['other line ends', (m: string) => m.replaceAll('\n', '\r\n'), 'INVALID_SIGNATURE'],
    ['an address in lower case', (m: string) => m.replace(/0x\w{40}/, (a) => a.toLowerCase()), 'INVALID_SIGNATURE'],
  ])('a message with %s is refused', async (_title, change, code) => {
    const answer = await verifyChanged(wallet('changes'), change)
    expect(answer.code).toBe(code)
    expect(answer.status).toBe(code === 'CHAIN_NOT_SUPPORTED' ? 400 : 401)
  })

  test("a nonce is its address's own, and good once", async () => {
    const mine = await begin(url, wallet('mine'))
    const stolen = await verifyChanged(wallet('stranger'), (m) => m.replace(/Nonce: \w+/, `Nonce: ${mine.nonce}`))
    expect(stolen).toMatchObject({ status: 401, code: 'INVALID_NONCE' })
    const body = await signed(url, wallet('mine'))
    expect((await verify(body)).status).toBe(200)
    expect(await verify(body)).toMatchObject({ status: 401, code: 'INVALID_NONCE' })
  })
})

describe('the session', () => {
  test('tells who is signed in, by bearer and by cookie', async () => {
    const { sessionToken, address } = await signIn(url, wallet('teller'))
    const byBearer = await call(url, 'GET /api/auth/session', null, sessionToken)
    expect(byBearer.body).toMatchObject({
      authenticated: true,
      userAddress: address,
      authMethod: 'wallet',
      session: { userAddress: address, authMethod: 'wallet' },
      user: { wallet_address: address },
    })
    const byCookie = await call(url, 'GET /api/auth/session', null, undefined, {
      cookie: `app_session=${sessionToken}`,
    })
    expect(byCookie.body).toEqual(byBearer.body)
  })

  test('without one: 401 and the same text for every reason', async () => {
    const none = await call(url, 'GET /api/auth/session')
    expect(none).toMatchObject({ status: 401, body: { error: 'Unauthorized', code: 'UNAUTHORIZED' } })
    const bad = await call(url, 'GET /api/auth/session', null, 'not.a.token')
    expect(bad).toMatchObject({ status: 401, body: { error: 'Unauthorized', code: 'SESSION_INVALID' } })
  })

  test.each([
    ['GET /api/agents', 'Authentication required'],
    ['POST /api/agents', 'Authentication required'],
    ['GET /api/agents/one/chat', 'Authentication required'],
    ['POST /api/agents/one/chat', 'Authentication required'],
    ['POST /api/agents/one/channels', 'Authentication required'],
    ['POST /api/streams', 'Authentication required'],
    ['POST /api/users/block', 'Unauthorized'],
    ['POST /api/upload/image', 'Unauthorized'],
  ])('without one: %s answers the text that its document names', async (route, text) => {
    for (const [token, code] of [
      [undefined, 'UNAUTHORIZED'],
      ['not.a.token', 'SESSION_INVALID'],
    ] as const) {
      const { status, body } = await call(url, route, route.startsWith('GET') ? null : {}, token)
      expect([status, body]).toMatchObject([401, { error: text, code }])
    }
  })

  test('a refresh token gives a new session once, and only there', async () => {
    const first = await signIn(url, wallet('refresher'))
    expect(await call(url, 'GET /api/auth/session', null, first.refreshToken)).toMatchObject({
      code: 'SESSION_INVALID',
    })
    const fresh = await call(url, 'POST /api/auth/session', { refreshToken: first.refreshToken })
    expect(fresh.body).toMatchObject({ success: true, extended: true, authenticated: true, userAddress: first.address })
    expect(fresh.headers.get('set-cookie')).toContain(`app_session=${fresh.body.sessionToken}`)
    expect(fresh.body.refreshToken).not.toBe(first.refreshToken)
    const session = await call(url, 'GET /api/auth/session', null, String(fresh.body.sessionToken))
    expect(session.status).toBe(200)
    const twice = await call(url, 'POST /api/auth/session', { refreshToken: first.refreshToken })
    expect(twice).toMatchObject({ status: 401, code: 'SESSION_INVALID' })
  })

  test.each(['token', 'sessionToken', 'refreshToken'])('the refresh token may be called %s', async (field) => {
    const { refreshToken } = await signIn(url, wallet(`field ${field}`))
    expect((await call(url, 'POST /api/auth/session', { [field]: refreshToken })).status).toBe(200)
  })

  test('a calling session is extended; without one, or with two tokens, nothing is', async () => {
    const { sessionToken, refreshToken } = await signIn(url, wallet('extender'))
    const extended = await call(url, 'POST /api/auth/session', {}, sessionToken)
    expect(extended.body.sessionToken).not.toBe(sessionToken)
    expect(await call(url, 'POST /api/auth/session', {})).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    const two = await call(url, 'POST /api/auth/session', { token: sessionToken, refreshToken })
    expect(two).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    const unknown = await call(url, 'POST /api/auth/session', { refreshToken: 'A'.repeat(43) })
    expect(unknown).toMatchObject({ status: 401, code: 'SESSION_NOT_FOUND' })
  })
})

describe('signing out', () => {
  test('ends every session of the account, and what they could be refreshed with', async () => {
    const [one, two] = [await signIn(url, wallet('leaver')), await signIn(url, wallet('leaver'))]
    const left = await call(url, 'POST /api/auth/logout', null, one.sessionToken)
    expect(left).toMatchObject({ status: 200, body: { success: true } })
    expect(left.headers.get('set-cookie')).toMatch(/^app_session=;.*Max-Age=0/)
    for (const { sessionToken } of [one, two])
      expect(await call(url, 'GET /api/auth/session', null, sessionToken)).toMatchObject({ code: 'SESSION_NOT_FOUND' })
    const refreshed = await call(url, 'POST /api/auth/session', { refreshToken: two.refreshToken })
    expect(refreshed).toMatchObject({ status: 401, code: 'SESSION_NOT_FOUND' })
  })

  test('allDevices false ends this device alone, with what it was refreshed to', async () => {
    const [here, there] = [await signIn(url, wallet('two devices')), await signIn(url, wallet('two devices'))]
    const fresh = await call(url, 'POST /api/auth/session', {}, here.sessionToken)
    await call(url, 'POST /api/auth/logout', { allDevices: false }, here.sessionToken)
    for (const token of [here.sessionToken, String(fresh.body.sessionToken)])
      expect((await call(url, 'GET /api/auth/session', null, token)).status).toBe(401)
    expect((await call(url, 'GET /api/auth/session', null, there.sessionToken)).status).toBe(200)
  })

  test('never fails, and only by POST', async () => {
    expect(await call(url, 'POST /api/auth/logout')).toMatchObject({ status: 200, body: { success: true } })
    expect((await call(url, 'POST /api/auth/logout', {}, 'rubbish')).status).toBe(200)
    expect((await call(url, 'GET /api/auth/logout')).status).toBe(405)
  })
})

describe('the session on a socket', () => {
  test('is told at connect, renewed by a newer one, and over at sign-out', async () => {
    const { sessionToken, address } = await signIn(url, wallet('socket'))
    const socket = connect(url, '/rooms', sessionToken)
    expect(await heard(socket, 'session:ready')).toMatchObject({ user: { wallet_address: address } })
    const fresh = await call(url, 'POST /api/auth/session', {}, sessionToken)
    const renewed = await socket.timeout(5_000).emitWithAck('session:refresh', { token: fresh.body.sessionToken })
    expect(renewed).toMatchObject({ ok: true, data: { expires_at: fresh.body.expiresAt } })
    const stranger = await signIn(url, wallet('socket stranger'))
    const foreign = await socket.timeout(5_000).emitWithAck('session:refresh', { token: stranger.sessionToken })
    expect(foreign).toMatchObject({ ok: false, error: { code: 'FORBIDDEN' } })
    const bad = await socket.timeout(5_000).emitWithAck('session:refresh', { token: 'rubbish' })
    expect(bad).toMatchObject({ ok: false, error: { code: 'SESSION_INVALID' } })
    const over = heard(socket, 'session:ended')
    const closed = heard(socket, 'disconnect')
    await call(url, 'POST /api/auth/logout', null, sessionToken)
    expect(await over).toEqual({ code: 'SESSION_NOT_FOUND' })
    await closed
    socket.close()
  })

  test('a dead token does not connect', async () => {
    const { sessionToken } = await signIn(url, wallet('dead socket'))
    await call(url, 'POST /api/auth/logout', null, sessionToken)
    const socket = connect(url, '/rooms', sessionToken)
    expect(await heard(socket, 'connect_error')).toMatchObject({ data: { code: 'SESSION_NOT_FOUND' } })
    socket.close()
  })
})
