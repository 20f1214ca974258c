// Modes: embedded
import type { Request, Response } from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keepSession, sessionIn, sessionOf } from '#server/kernel/http/cookies'
import { type Booted, boot } from '#test/support/boot'
import { call, signIn, wallet } from '#test/support/wallet'

const [usual, one, other] = ['http://localhost:3000', 'http://localhost:4501', 'http://localhost:4502'] as const

/** A browser, which sends the cookies of a host to all of its ports. */
function browser() {
  const kept = new Map<string, string>()
  const cookie = () => [...kept].map(([name, value]) => `${name}=${value}`).join('; ')
  const request = { get: () => cookie() } as unknown as Request
  const response = {
    cookie(name: string, value: string, { maxAge }: { maxAge: number }) {
      if (maxAge === 0) kept.delete(name)
      else kept.set(name, value)
    },
  } as unknown as Response
  return {
    kept,
    is: (origin: string) => sessionIn(cookie(), origin),
    gets: (origin: string, token: string | null, isSignedIn = false) =>
      keepSession({ request, response, origin }, token, isSignedIn),
  }
}

describe('O33: installations on several ports of a host', () => {
  test.each([[[one, other, usual]], [[usual, other, one]], [[other, usual, one]]])(
    'do not sign each other out: %j',
    (order) => {
      const here = browser()
      for (const origin of order) here.gets(origin, `of ${origin}`)
      for (const origin of order) expect(here.is(origin)).toBe(`of ${origin}`)
      for (const origin of order) here.gets(origin, `anew ${origin}`, true)
      for (const origin of order) expect(here.is(origin)).toBe(`anew ${origin}`)
      here.gets(other, null, true)
      for (const origin of [one, usual]) expect(here.is(origin)).toBe(`anew ${origin}`)
      expect(here.is(other)).not.toBe(`anew ${other}`)
    },
  )

  test('at the usual port, and at none, there is one cookie', () => {
    for (const origin of [usual, 'https://plaza.example']) {
      const here = browser()
      here.gets(origin, 'token')
      expect([...here.kept]).toEqual([['app_session', 'token']])
      here.gets(origin, null)
      expect([...here.kept]).toEqual([])
    }
  })
})

describe('O33: at a port of its own', () => {
  let server: Booted
  beforeAll(async () => {
    server = await boot({ environment: { PUBLIC_URL: one } })
  })
  afterAll(() => server.close())

  test('a session is set by both names, and either opens: nobody is signed out by the update', async () => {
    const { sessionToken, answer } = await signIn(server.url, wallet('roams'))
    const set = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
    expect(set).toEqual([`app_session=${sessionToken}`, `app_session_4501=${sessionToken}`])
    const statusBy = async (cookie: string) =>
      (await call(server.url, 'GET /api/auth/session', null, undefined, { cookie })).status
    expect(await statusBy(`app_session=${sessionToken}`)).toBe(200)
    expect(await statusBy(`app_session=of.an.other; app_session_4501=${sessionToken}`)).toBe(200)
    expect(await statusBy(`app_session_4502=${sessionToken}`)).toBe(401)
    expect(sessionOf(`app_session=x; app_session_4501=${sessionToken}`, one)).toBe(sessionToken)
  })
})
