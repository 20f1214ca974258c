// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { Authenticator } from '#test/support/authenticator'
import { type Booted, boot } from '#test/support/boot'
import { call } from '#test/support/wallet'

let server: Booted
let aheadMilliseconds = 0
beforeAll(async () => {
  server = await boot({
    environment: { RATE_LIMIT_SCALE: '1', TRUSTED_PROXIES: '1' },
    change: (platform) => {
      const now = () => platform.database.now() + aheadMilliseconds
      return { ...platform, database: { ...platform.database, now } }
    },
  })
})
afterAll(() => server.close())

const from = (ip: string) => ({ 'x-forwarded-for': ip })
const ask = (path: string, body: object, ip: string) =>
  call(server.url, `POST /api/passkey/${path}`, body, undefined, from(ip))

test('ten calls a minute', async () => {
  const statuses: number[] = []
  for (let at = 0; at < 11; at++) statuses.push((await ask('login/options', {}, '192.0.2.1')).status)
  expect(statuses).toEqual([...Array(10).fill(200), 429])
})

test('three rescues of an account an hour, from wherever they are asked for', async () => {
  const key = new Authenticator()
  await Accounts.create({ _id: key.account, email: 'lost@example.com', created_at: new Date(), updated_at: new Date() })
  const codes: (string | null)[] = []
  for (let at = 0; at < 4; at++) {
    const ip = `192.0.3.${at}`
    const { body } = await ask('login/options', {}, ip)
    codes.push((await ask('login/verify', { credential: key.get(String(body.challenge)) }, ip)).code)
  }
  expect(codes).toEqual([...Array(3).fill('RESCUE_AVAILABLE'), 'RATE_LIMIT_EXCEEDED'])
})

test('ten rescues an hour from one address, of whatever accounts', async () => {
  const codes: (string | null)[] = []
  for (let at = 0; at < 11; at++) {
    const key = new Authenticator()
    await Accounts.create({
      _id: key.account,
      email: `lost-${at}@example.com`,
      created_at: new Date(),
      updated_at: new Date(),
    })
    const { body } = await ask('login/options', {}, `192.0.5.${at}`)
    codes.push((await ask('login/verify', { credential: key.get(String(body.challenge)) }, '192.0.6.1')).code)
    // Past the limit of calls a minute.
    if (at === 5) aheadMilliseconds += 61_000
  }
  expect(codes).toEqual([...Array(10).fill('RESCUE_AVAILABLE'), 'RATE_LIMIT_EXCEEDED'])
})

test('M12: three codes to an address an hour for one asker, known or not', async () => {
  const codes: number[] = []
  for (let at = 0; at < 4; at++)
    codes.push((await ask('recover/email', { email: 'x@example.com' }, '192.0.4.1')).status)
  expect(codes).toEqual([200, 200, 200, 429])
  expect((await ask('recover/email', { email: 'x@example.com' }, '192.0.4.2')).status).toBe(200)
})
