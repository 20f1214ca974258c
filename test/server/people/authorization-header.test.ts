// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { signInByEmail } from '#test/support/letters'

let server: Booted
let token: string

beforeAll(async () => {
  server = await boot({ nodes: 1 })
  token = (await signInByEmail(server, 'ann@people.test')).sessionToken
})
afterAll(() => server.close())

const ask = (path: string, authorization: string) => fetch(`${server.url}${path}`, { headers: { authorization } })

test('a bearer stands behind one space or several, as RFC 9110 lets it', async () => {
  for (const spaces of [' ', '   '])
    expect((await ask('/api/auth/session', `Bearer${spaces}${token}`)).status).toBe(200)
})

test('a header that is empty is none: the cookie counts', async () => {
  const headers = { authorization: '', cookie: `app_session=${token}` }
  expect((await fetch(`${server.url}/api/auth/session`, { headers })).status).toBe(200)
  expect((await ask('/api/auth/session', '')).status).toBe(401)
})

test('a number of a query that is too large is told as that', async () => {
  const path = '/api/rooms/global/global/events?after_seq=9007199254740993'
  const answer = await ask(path, `Bearer ${token}`)
  expect(answer.status).toBe(400)
  expect(JSON.stringify(await answer.json())).toContain('after_seq: is too large')
})
