import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeWeb } from '#server/ports/web/fake'
import { textOf, type Web } from '#server/ports/web/port'
import { localServer, webOver } from '#test/support/web'

const hello = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', etag: '"one"' },
  body: '<p>hellö</p>',
}
let server: Awaited<ReturnType<typeof localServer>>
beforeAll(async () => {
  server = await localServer((request, response) => {
    if (request.url === '/hello') return void response.writeHead(200, hello.headers).end(hello.body)
    if (request.url === '/long') return void response.writeHead(200).end('x'.repeat(5_000))
    if (request.url === '/echo') return void request.pipe(response.writeHead(200, { seen: request.headers['x-one'] }))
    if (request.url !== '/silent') response.writeHead(404).end('Not found')
  })
})
afterAll(() => server.close())

const fake = fakeWeb({
  'https://site.test/hello': hello,
  'https://site.test/long': 'x'.repeat(5_000),
  'https://site.test/silent': 'silent',
})
fake.pages.set('https://site.test/echo', ({ body = '', headers }) => ({
  body,
  headers: { seen: headers?.['x-one'] ?? '' },
}))
const subjects: Record<string, () => Web> = {
  'the fake': () => fake,
  'the guarded one': () => webOver({ 'site.test': server.port }),
}

describe.each(Object.entries(subjects))('the port of the web, by %s', (_name, open) => {
  test('answers with status, headers, the URL and the text', async () => {
    const answer = await open().ask('https://site.test/hello#part')
    expect(answer).toMatchObject({ status: 200, url: 'https://site.test/hello', headers: { etag: '"one"' } })
    expect(textOf(answer)).toBe('<p>hellö</p>')
    expect((await open().ask('https://site.test/none')).status).toBe(404)
  })

  test('posts a body, with headers', async () => {
    const answer = await open().ask('https://site.test/echo', {
      body: '{"a":1}',
      headers: { 'X-One': 'yes', 'x-one': 'yes' },
    })
    expect(textOf(answer)).toBe('{"a":1}')
    expect(answer.headers.seen).toContain('yes')
  })

  test('throws where the answer is too long, late, missing or not wanted any more', async () => {
    await expect(open().ask('https://site.test/long', { maxBytes: 4_999 })).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
    })
    await expect(open().ask('https://site.test/silent', { timeoutMilliseconds: 50 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    await expect(open().ask('https://unknown.test/')).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    await expect(open().ask('https://site.test/hello', { signal: AbortSignal.abort('over') })).rejects.toBe('over')
  })

  test('reads nothing but the status and the headers where no more is wanted', async () => {
    const answer = await open().ask('https://site.test/long', { body: '{}', onlyStatus: true, maxBytes: 1 })
    expect([answer.status, answer.body.byteLength]).toEqual([200, 0])
  })

  test('checks a URL before it asks', async () => {
    expect(open().check('https://site.test./a?b#c').href).toBe('https://site.test/a?b')
    expect(() => open().check('http://site.test/')).toThrow('https')
    await expect(open().ask('https://127.0.0.1/')).rejects.toMatchObject({ code: 'INVALID_PARAMETER' })
  })
})
