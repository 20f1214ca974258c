import { expect, test } from 'vitest'
import { restDoor } from '#client/sdk/rest'
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
