import { describe, expect, test } from 'vitest'
import { restDoor } from '#client/sdk/rest'
import type { AppError } from '#shared/errors'
import type { Route } from '#shared/kit/contract'

test('an answer that is cut off counts as unanswered', async () => {
  const reached: boolean[] = []
  const ask = restDoor({
    url: 'http://localhost',
    fetch: async () => new Response('{"room":'),
    token: () => null,
    cut: () => new AbortController().signal,
    reached: (answered) => reached.push(answered),
  })
  const outcome = ask('GET /api/rooms/alpha', {})
  await expect(outcome).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { answered: false } })
  expect(reached).toEqual([false])
})

test('what a proxy refuses as too large, in a page of its own, is told so', async () => {
  const ask = restDoor({
    url: 'http://localhost',
    fetch: async () => new Response('<html>413 Request Entity Too Large</html>', { status: 413 }),
    token: () => null,
    cut: () => new AbortController().signal,
    reached: () => {},
  })
  await expect(ask('GET /api/rooms/alpha', {})).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
})

test('N85: the code of a refusal is that of its header, in whatever shape its body is', async () => {
  const bodies = [{ error: 'Gone' }, { success: false, error: { message: 'Gone' } }, { detail: 'Gone' }]
  for (const body of bodies) {
    const ask = restDoor({
      url: 'http://localhost',
      fetch: async () => Response.json(body, { status: 410, headers: { 'X-Error-Code': 'INVITATION_REVOKED' } }),
      token: () => null,
      cut: () => new AbortController().signal,
      reached: () => {},
    })
    await expect(ask('GET /api/rooms/alpha', {})).rejects.toMatchObject({ code: 'INVITATION_REVOKED' })
  }
})

test('what is not known yet (202) is no answer', async () => {
  const payment = { id: 'p1', state: 'unknown' }
  const ask = restDoor({
    url: 'http://localhost',
    fetch: async () => Response.json({ error: 'Not known yet', code: 'PAYMENT_PENDING', payment }, { status: 202 }),
    token: () => null,
    cut: () => new AbortController().signal,
    reached: () => undefined,
  })
  await expect(ask('POST /api/public/agents/a/chat', {})).rejects.toMatchObject({ code: 'PAYMENT_PENDING' })
})

test('M64: short requests survive leaving the page, and requests above the limit of browsers are sent without `keepalive`', async () => {
  const sent: { [route: string]: [bytes: number, keepalive: boolean | undefined] } = {}
  const ask = restDoor({
    url: 'http://localhost',
    fetch: async (_url, init = {}) => {
      const body = String(init.body ?? '')
      sent[`${init.method} ${body.slice(2, 6)}`] = [new TextEncoder().encode(body).length, init.keepalive]
      return Response.json({})
    },
    token: () => null,
    cut: () => new AbortController().signal,
    reached: () => undefined,
  })
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
  const calls: [route: Route, input: object][] = methods.flatMap((method) => [
    [`${method} /api/x`, { short: 'x'.repeat(1_012) }],
    [`${method} /api/x`, { longer: 'x'.repeat(1_012) }],
    [`${method} /api/x`, { wide: '\u{1f600}'.repeat(400) }],
  ])
  for (const [route, input] of calls) await ask(route, input)
  expect(sent).toEqual(
    Object.fromEntries(
      methods.flatMap((method) => [
        [`${method} shor`, [1_024, true]],
        [`${method} long`, [1_025, false]],
        [`${method} wide`, [1_611, false]],
      ]),
    ),
  )
})

test('answers are asked for past what a browser keeps', async () => {
  const sent: string[] = []
  const ask = restDoor({
    url: 'http://localhost',
    fetch: async (_url, init = {}) => {
      sent.push(`${init.method} ${init.cache}`)
      return Response.json({})
    },
    token: () => null,
    cut: () => new AbortController().signal,
    reached: () => undefined,
  })
  await ask('GET /api/friends', {})
  await ask('POST /api/friends/accept', {})
  expect(sent).toEqual(['GET no-store', 'POST no-store'])
})

test('a form is sent without a type of its own, and where nothing tells how far it is, its end is', async () => {
  const sent: RequestInit[] = []
  const told: number[] = []
  const answers = [Response.json({ error: 'Again', code: 'CONFLICT' }, { status: 409 }), Response.json({ url: 'x' })]
  const ask = restDoor({
    url: 'http://localhost',
    fetch: async (_url, init = {}) => {
      sent.push(init)
      return answers.shift() ?? Response.error()
    },
    token: () => 'a token',
    cut: () => new AbortController().signal,
    reached: () => undefined,
  })
  const upload = () =>
    ask('POST /api/upload', { file: new Blob(['x']), context: 'chat' }, { onProgress: (share) => told.push(share) })
  await expect(upload()).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(told).toEqual([])
  expect(await upload()).toEqual({ url: 'x' })
  expect(told).toEqual([1])
  expect(sent[0]?.headers).toEqual({ authorization: 'Bearer a token' })
  expect(sent[0]?.body).toBeInstanceOf(FormData)
})

describe('a sequence', () => {
  const read = async (body: string, lines?: 'only', type = 'application/x-ndjson') => {
    const ask = restDoor({
      url: 'http://localhost',
      fetch: async () => new Response(body, { headers: { 'content-type': `${type}; charset=utf-8` } }),
      token: () => null,
      cut: () => new AbortController().signal,
      reached: () => undefined,
    })
    const items: unknown[] = []
    try {
      const answer = await ask('GET /api/items', {}, { lines })
      for await (const item of answer as AsyncIterable<unknown>) items.push(item)
      return { items, end: 'finished' }
    } catch (error) {
      return { items, end: (error as AppError).details?.answered === false ? 'cut' : 'refused' }
    }
  }

  test('ends with the line that says how, and was cut without it', async () => {
    expect(await read('{"n":1}\n\n{"success":true}\n')).toEqual({ items: [{ n: 1 }], end: 'finished' })
    expect(await read('{"n":1}\n{"success":false,"error":{"code":"FORBIDDEN"}}\n')).toMatchObject({ end: 'refused' })
    expect(await read('{"n":1}\n')).toEqual({ items: [{ n: 1 }], end: 'cut' })
  })

  test('N86: of server-sent events is what their data say', async () => {
    const told = 'id: 1\ndata: {"n":1}\n\n:\n\n'
    const events = (body: string) => read(body, undefined, 'text/event-stream')
    expect(await events(`${told}event: end\ndata: {"success":true}\n\n`)).toEqual({
      items: [{ n: 1 }],
      end: 'finished',
    })
    expect(await events(`${told}event: end\ndata: {"success":false,"error":{"code":"FORBIDDEN"}}\n\n`)).toMatchObject({
      items: [{ n: 1 }],
      end: 'refused',
    })
    expect(await events(told)).toEqual({ items: [{ n: 1 }], end: 'cut' })
  })

  test('that is its items alone ends with the answer, and was cut within a line', async () => {
    expect(await read('{"n":1}\n{"n":2}\n', 'only')).toEqual({ items: [{ n: 1 }, { n: 2 }], end: 'finished' })
    expect(await read('', 'only')).toEqual({ items: [], end: 'finished' })
    expect(await read('{"n":1}\n{"n"', 'only')).toEqual({ items: [{ n: 1 }], end: 'cut' })
  })
})
