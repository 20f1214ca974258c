// Modes: embedded
import { createServer } from 'node:http'
import { domainToASCII } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { textMessageJob } from '#server/domains/platform/outgoing/index'
import { StoredJobs } from '#server/kernel/store/model'
import { httpSms } from '#server/ports/sms/http'
import { type Booted, boot } from '#test/support/boot'
import { lettersTo } from '#test/support/letters'
import { type Person, person } from '#test/support/people'
import { portOf, smtpSink } from '#test/support/smtp'
import { call } from '#test/support/wallet'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function opened(environment: Record<string, string>): Promise<Booted> {
  const server = await boot({ environment })
  cleanups.push(server.close)
  return server
}
async function sink(options: Parameters<typeof smtpSink>[0] = {}) {
  const one = await smtpSink(options)
  cleanups.push(one.close)
  return one
}
const ask = (server: Booted, email: string, what = 'send-code') =>
  call(server.url, `POST /api/email/login/${what}`, { email })
const phoneNumber = '+15005550006'
const askText = (who: Person) => who.rest('POST /api/phone/send-code', { phoneNumber })
const within = { timeout: 15_000, interval: 20 }

describe('mail over SMTP', () => {
  test('a letter comes to one address, from ours, with a code that signs in', async () => {
    const smtp = await sink()
    const server = await opened({ MAIL_URL: smtp.url, MAIL_FROM: 'Plaza <door@plaza.test>' })
    expect((await ask(server, 'ann@people.test')).status).toBe(200)
    await vi.waitFor(() => expect(smtp.letters).toHaveLength(1), within)
    const [letter] = smtp.letters
    expect(letter).toMatchObject({
      from: 'door@plaza.test',
      to: ['ann@people.test'],
      headers: { from: 'Plaza <door@plaza.test>', to: 'ann@people.test', subject: 'Your code for Plaza' },
    })
    expect(letter?.headers['message-id']).toMatch(/^<[\w-]+@plaza\.test>$/)
    const code = /\b\d{6}\b/.exec(letter?.text ?? '')?.[0]
    expect((await call(server.url, 'POST /api/email/login/verify', { email: 'ann@people.test', code })).status).toBe(
      200,
    )
  })

  test('a link arrives whole', async () => {
    const smtp = await sink()
    const server = await opened({ MAIL_URL: smtp.url })
    await ask(server, 'ann@people.test', 'send-link')
    await vi.waitFor(() => expect(smtp.letters).toHaveLength(1), within)
    const link = new URL(/https?:\S+/.exec(smtp.letters[0]?.text ?? '')?.[0] ?? '')
    const token = link.searchParams.get('token')
    expect((await call(server.url, 'POST /api/email/login/link', { token })).status).toBe(200)
  })

  test('it is encrypted where the server offers it', async () => {
    const smtp = await sink({ disabledCommands: [] })
    const server = await opened({ MAIL_URL: smtp.url })
    await ask(server, 'ann@people.test')
    await vi.waitFor(() => expect(smtp.letters).toMatchObject([{ isEncrypted: true }]), within)
  })

  test('a server that is away changes nothing in the answer, and its letter comes when it is back', async () => {
    const smtp = await smtpSink()
    const server = await opened({ MAIL_URL: smtp.url })
    const there = await ask(server, 'ann@people.test')
    await vi.waitFor(() => expect(smtp.letters).toHaveLength(1), within)
    await smtp.close()
    const away = await ask(server, 'bob@people.test')
    expect([away.status, away.body]).toEqual([there.status, there.body])
    const isTriedAgain = () => StoredJobs.findOne({ state: 'open', attempts: { $gte: 1 } }).lean()
    await vi.waitFor(async () => expect(await isTriedAgain()).not.toBeNull(), within)
    const back = await sink({ port: smtp.port })
    await vi.waitFor(() => expect(back.letters).toMatchObject([{ to: ['bob@people.test'] }]), within)
  })

  test('an address that the mail server refuses is tried once', async () => {
    const smtp = await sink({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('Nobody of this name'), { responseCode: 550 })),
    })
    const server = await opened({ MAIL_URL: smtp.url })
    expect((await ask(server, 'nobody@people.test')).status).toBe(200)
    const over = { state: 'failed', attempts: 1, error: 'The mail server refused the letter for good' }
    await vi.waitFor(async () => expect(await StoredJobs.findOne({}).lean()).toMatchObject(over), within)
  })

  test('O35: a letter that is refused for good is tried once, and one that is not is tried again', async () => {
    let answered = 0
    const smtp = await sink({
      onData(stream, _session, done) {
        stream.resume()
        stream.once('end', () => done(Object.assign(new Error('No'), { responseCode: answered++ === 0 ? 451 : 554 })))
      },
    })
    const server = await opened({ MAIL_URL: smtp.url })
    expect((await ask(server, 'nobody@people.test')).status).toBe(200)
    const over = { state: 'failed', attempts: 2, error: 'The mail server refused the letter for good' }
    await vi.waitFor(async () => expect(await StoredJobs.findOne({}).lean()).toMatchObject(over), within)
    expect(answered).toBe(2)
  })

  test('O35: it says that nobody wrote it, and goes to a domain in another script', async () => {
    const smtp = await sink({})
    const server = await opened({ MAIL_URL: smtp.url })
    for (const written of ['Ann@Bücher.Example', 'ann@xn--bcher-kva.example', 'ann@例え.テスト'])
      expect((await ask(server, written)).status).toBe(200)
    const [book, test] = ['ann@xn--bcher-kva.example', 'ann@xn--r8jz45g.xn--zckzah']
    await vi.waitFor(
      () =>
        expect(smtp.letters.map(({ to: [to = ''] }) => `ann@${domainToASCII(to.slice(4))}`).sort()).toEqual([
          book,
          book,
          test,
        ]),
      within,
    )
    expect(smtp.letters.map(({ headers }) => headers['auto-submitted'])).toEqual(Array(3).fill('auto-generated'))
    for (const written of [
      'ann@bücher',
      'ann@bü cher.example',
      'änn@people.test',
      'ann@bücher.example:80',
      'a@b@bücher.example',
    ])
      expect((await ask(server, written)).status).toBe(400)
  })

  test('where neither mail nor texts are configured, what needs them says so', async () => {
    const keys = `k:${Buffer.alloc(32, 7).toString('base64')}`
    const server = await opened({ NODE_ENV: 'production', SESSION_KEYS: keys })
    expect(await ask(server, 'ann@people.test')).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    expect(await askText(await person(server, 'silent'))).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    expect((await fetch(`${server.url}/dev/mail`)).status).toBe(404)
    expect((await fetch(`${server.url}/dev/mail.json`)).status).toBe(404)
  })
})

describe('captured mail', () => {
  test('it is shown as text, newest first, and no store keeps the page', async () => {
    const server = await opened({})
    await ask(server, 'ann@people.test')
    await vi.waitFor(async () => expect(await lettersTo(server, 'ann@people.test')).toHaveLength(1), within)
    await server.apps[0]?.node.jobs.add(textMessageJob, { to: phoneNumber, text: '<script>alert(1)</script>' })
    await vi.waitFor(async () => expect(await lettersTo(server, phoneNumber)).toHaveLength(1), within)
    const page = await fetch(`${server.url}/dev/mail`)
    const html = await page.text()
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(html).toContain('&lt;script&gt;')
    expect(html).not.toContain('<script')
    expect(html.indexOf(phoneNumber)).toBeLessThan(html.indexOf('ann@people.test'))
  })

  test('it is not shown by a server that sends both', async () => {
    const smtp = await sink()
    const server = await opened({ MAIL_URL: smtp.url, SMS_URL: 'http://127.0.0.1:9/texts' })
    expect((await fetch(`${server.url}/dev/mail`)).status).toBe(404)
    expect((await fetch(`${server.url}/dev/mail.json`)).status).toBe(404)
  })
})

describe('T36: bombing', () => {
  test('three letters an hour come to one address, however it is written and whoever asks', async () => {
    const server = await opened({ RATE_LIMIT_SCALE: '1' })
    const answers = [
      await ask(server, 'bombed@people.test'),
      await ask(server, ' BOMBED@people.test'),
      await ask(server, 'bombed@PEOPLE.test', 'send-link'),
      await ask(server, 'bombed@people.test'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(60)
    await vi.waitFor(async () => expect(await lettersTo(server, 'bombed@people.test')).toHaveLength(3), within)
  })

  test('three texts an hour come to one number, whoever asks', async () => {
    const server = await opened({ RATE_LIMIT_SCALE: '1' })
    const [one, other] = [await person(server, 'bomber-1', server.url), await person(server, 'bomber-2', server.url)]
    const answers = [await askText(one), await askText(other), await askText(one), await askText(other)]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    await vi.waitFor(async () => expect(await lettersTo(server, phoneNumber)).toHaveLength(3), within)
  })
})

describe('texts over HTTP', () => {
  test('they are posted as a form with the credentials in the header; a refusal is an error', async () => {
    const posted: { authorization: string | undefined; form: Record<string, string> }[] = []
    let status = 201
    const provider = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const { authorization } = request.headers
      posted.push({ authorization, form: Object.fromEntries(new URLSearchParams(body)) })
      response.writeHead(status).end('{}')
    })
    const port = await portOf(provider)
    cleanups.push(async () => provider.close())
    const sms = httpSms(`http://account:to%2Fken@127.0.0.1:${port}/texts`, 'Plaza')
    await sms.send({ id: 'one', to: '+15005550006', text: 'Hi & bye' })
    expect(posted).toEqual([
      {
        authorization: `Basic ${Buffer.from('account:to/ken').toString('base64')}`,
        form: { To: '+15005550006', From: 'Plaza', Body: 'Hi & bye' },
      },
    ])
    status = 500
    await expect(sms.send({ id: 'two', to: '+15005550006', text: 'x' })).rejects.toThrow('500')
  })
})
