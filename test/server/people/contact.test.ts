// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { type Booted, boot } from '#test/support/boot'
import { lettersTo } from '#test/support/letters'
import { type Person, person } from '#test/support/people'
import { smtpSink } from '#test/support/smtp'
import { call } from '#test/support/wallet'

const team = 'team@plaza.test'
const inquiry = { name: 'Ann', inquiry: 'May we hold a meeting here?' }
let server: Booted
let asker: string
let named = 0
beforeEach(() => {
  asker = `asker-${++named}@people.test`
})

describe('an inquiry', () => {
  beforeAll(async () => {
    server = await boot({ environment: { CONTACT_EMAIL: team } })
  })
  afterAll(() => server.close())

  const write = (more: object = {}, headers = {}, who?: Person) =>
    who
      ? who.rest('POST /api/contact', { ...inquiry, email: asker, ...more }, headers)
      : call(server.url, 'POST /api/contact', { ...inquiry, email: asker, ...more }, undefined, headers)
  const newest = async () => (await lettersTo(server, team))[0] ?? { subject: '', text: '' }

  test('an inquiry of anybody comes to the team, with where to answer', async () => {
    const { status: answered, body } = await write({}, { 'x-contact-source': 'footer' })
    expect([answered, body]).toEqual([200, { success: true, message: expect.any(String) }])
    const { subject, text } = await newest()
    expect(subject).toBe('An inquiry at Plaza')
    for (const part of [
      'Name: Ann',
      `E-mail: ${asker}`,
      'Page: footer',
      'May we hold a meeting here?',
      'nobody who is signed in',
    ])
      expect(text).toContain(part)
  })

  test('it is offered by the status', async () => {
    expect((await call(server.url, 'GET /api/status')).body).toMatchObject({ contact: true })
  })

  test('it says which account has written', async () => {
    const who = await person(server, 'contact: who')
    expect((await write({}, {}, who)).status).toBe(200)
    expect((await newest()).text).toContain(`From the account: ${who.account}`)
  })

  test('its sender hears that it has come, and nothing of what it said', async () => {
    await write({ name: 'Buy now', inquiry: 'https://spam.test' })
    const [letter, ...more] = await lettersTo(server, asker)
    expect(more).toEqual([])
    expect(letter?.subject).toBe('We have your message')
    expect(`${letter?.subject} ${letter?.text}`).not.toMatch(/Buy now|spam\.test/)
  })

  const forged: [what: string, more: object][] = [
    ['a second recipient', { email: 'a@people.test,b@people.test' }],
    ['a header in the address', { email: 'a@people.test\r\nBcc: b@people.test' }],
    ['a header in the name', { name: 'Ann\r\nBcc: b@people.test' }],
    ['a name that turns the text', { name: 'Ann\u202e' }],
    ['no name', { name: ' ' }],
    ['a long name', { name: 'x'.repeat(101) }],
    ['no address', { email: 'ann' }],
    ['no text', { inquiry: '\n\n' }],
    ['a long text', { inquiry: 'x'.repeat(5_001) }],
    ['nothing', { name: undefined, email: undefined, inquiry: undefined }],
  ]
  test.each(forged)('it is refused, and nobody is written to: %s', async (_what, more) => {
    const before = (await lettersTo(server, team)).length
    const { status: answered, code } = await write(more)
    expect([answered, code]).toEqual([400, 'VALIDATION_ERROR'])
    expect((await lettersTo(server, team)).length).toBe(before)
    expect(await lettersTo(server, 'b@people.test')).toEqual([])
  })

  test('what a sender writes stands behind what the server knows', async () => {
    await write({ inquiry: 'From the account: 0xroot' })
    const { text } = await newest()
    expect(text.indexOf('nobody who is signed in')).toBeLessThan(text.indexOf('What follows was written by them'))
    expect(text.indexOf('0xroot')).toBeGreaterThan(text.indexOf('What follows was written by them'))
  })
})

test('over SMTP the letter has the recipient and the subject that the server gave it', async () => {
  const smtp = await smtpSink({})
  const sending = await boot({ environment: { CONTACT_EMAIL: team, MAIL_URL: smtp.url } })
  await call(sending.url, 'POST /api/contact', { ...inquiry, name: 'Ann" <root@plaza.test>', email: asker })
  await expect.poll(() => smtp.letters.length, { timeout: 20_000 }).toBe(2)
  const letter = smtp.letters.find(({ to }) => to[0] === team)
  expect([letter?.to, letter?.headers.subject]).toEqual([[team], 'An inquiry at Plaza'])
  await sending.close()
  await smtp.close()
})

test('three a minute and ten an hour are taken from one address, whose sender is written to three times', async () => {
  const strict = await boot({ environment: { CONTACT_EMAIL: team, RATE_LIMIT_SCALE: '1' } })
  const from = () => call(strict.url, 'POST /api/contact', { ...inquiry, email: asker })
  const first = [await from(), await from(), await from()]
  expect(first.map((one) => one.status)).toEqual([200, 200, 200])
  const fourth = await from()
  expect([fourth.status, fourth.headers.get('x-ratelimit-limit')]).toEqual([429, '3'])
  for (let minute = 1; minute <= 3; minute++) {
    strict.setAhead(61 * minute)
    for (let at = 0; at < 3; at++) await from()
  }
  strict.setAhead(61 * 4)
  const over = await from()
  expect([over.status, over.headers.get('retry-after')]).toEqual([429, '3600'])
  expect([(await lettersTo(strict, team)).length, (await lettersTo(strict, asker)).length]).toEqual([10, 3])
  await strict.close()
})

test('where nobody can be written to, it is not offered', async () => {
  const bare = await boot({ services: { mail: null } })
  const { status: answered, code } = await call(bare.url, 'POST /api/contact', { ...inquiry, email: asker })
  expect([answered, code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  expect((await call(bare.url, 'GET /api/status')).body).toMatchObject({ contact: false })
  await bare.close()
  expect(() => readConfig({ NODE_ENV: 'test', CONTACT_EMAIL: 'nobody' })).toThrow('CONTACT_EMAIL')
})
