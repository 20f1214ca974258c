// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { api } from '#shared/api/index'
import { identities } from '#shared/api/people/identities'
import { freshMilliseconds, operationsOf } from '#shared/kit/contract'
import { type Booted, boot } from '#test/support/boot'
import { codeIn, letterAfter, lettersTo } from '#test/support/letters'
import { enrol } from '#test/support/passkeys'
import { person } from '#test/support/people'
import { call, signed, signIn, wallet } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot({ entry: 'through the door', environment: { SUPER_ADMINS: wallet('fresh admin').address } })
})
afterAll(() => server.close())

const idOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? '')).jti as string
const age = (token: string, milliseconds: number) =>
  Sessions.updateOne({ _id: idOf(token) }, { $set: { proven_at: new Date(Date.now() - milliseconds) } })

describe('M08, T75: what opens an account is changed with a fresh proof alone', () => {
  const asking = operationsOf(api).filter(({ operation }) => operation.freshProof)

  test.each(asking.map(({ name, operation }) => [name, operation.http ?? '']))(
    '%s asks who signed in five minutes ago to sign in again',
    async (_name, http) => {
      const me = await person(server, 'fresh admin')
      await age(me.token, freshMilliseconds)
      const route = http.replace(':id', 'some-id')
      expect(await me.rest(route, {})).toMatchObject({ status: 403, code: 'REAUTHENTICATION_REQUIRED' })
      await age(me.token, freshMilliseconds - 20_000)
      expect((await me.rest(route, {})).code).not.toBe('REAUTHENTICATION_REQUIRED')
    },
  )

  test('a refreshed session is as old as its sign-in, whichever token refreshed it', async () => {
    const { sessionToken, refreshToken } = await signIn(server.url, wallet('refresher'))
    await age(sessionToken, freshMilliseconds)
    const bySession = await call(server.url, 'POST /api/auth/session', {}, sessionToken)
    const byRefresh = await call(server.url, 'POST /api/auth/session', { refreshToken })
    for (const { body } of [bySession, byRefresh]) {
      const answer = await call(server.url, 'POST /api/email/remove', {}, String(body.sessionToken))
      expect(answer).toMatchObject({ status: 403, code: 'REAUTHENTICATION_REQUIRED' })
    }
    const { sessionToken: fresh } = await signIn(server.url, wallet('refresher'))
    expect((await call(server.url, 'POST /api/email/remove', {}, fresh)).status).toBe(200)
  })

  test('a stolen, older session links nothing: no wallet, no address, no passkey', async () => {
    const me = await person(server, 'stolen from')
    await age(me.token, 600_000)
    const code = 'REAUTHENTICATION_REQUIRED'
    expect(await me.refused('rest', identities.linkWallet, await signed(me.url, wallet('thief')))).toMatchObject({
      code,
    })
    expect(await me.rest('POST /api/email/send-code', { email: 'thief@example.com' })).toMatchObject({ code })
    expect(await me.rest('POST /api/passkey/register/options', {})).toMatchObject({ code })
    expect(await lettersTo(server, 'thief@example.com')).toEqual([])
    expect((await me.does('rest', identities.list, {})).identities).toHaveLength(1)
  })

  test.each(asking.map(({ name, operation }) => [name, operation.http ?? '']))(
    '%s is refused to a stolen service token, whatever it may do',
    async (_name, http) => {
      const root = await person(server, 'fresh admin')
      const { body } = await root.rest('GET /api/admin/service-tokens')
      const all = { name: 'Stolen from', scopes: body.scopes }
      const { body: made } = await root.rest('POST /api/admin/service-tokens', all)
      const { account } = made.serviceToken as { account: string }
      await root.rest('POST /api/admin/admins', { userAddress: account })
      const answer = await call(server.url, http.replace(':id', 'some-id'), {}, String(made.token))
      expect([answer.status, answer.code]).toEqual([403, 'FORBIDDEN'])
    },
  )

  test('a session that a thief made from a stolen one ends with all others', async () => {
    const me = await person(server, 'session stolen')
    const thief = await call(server.url, 'POST /api/auth/session', {}, me.token)
    const again = await call(server.url, 'POST /api/auth/session', { refreshToken: thief.body.refreshToken })
    expect((await me.rest('DELETE /api/auth/sessions')).status).toBe(200)
    for (const { body } of [thief, again]) {
      expect((await call(server.url, 'GET /api/auth/session', null, String(body.sessionToken))).status).toBe(401)
      const refreshed = await call(server.url, 'POST /api/auth/session', { refreshToken: body.refreshToken })
      expect(refreshed.status).toBe(401)
    }
    expect((await me.rest('GET /api/auth/session')).status).toBe(200)
  })

  test('callers who are not signed in need no fresh sign-in: codes and new passkeys sign in', async () => {
    const letter = await letterAfter(server, 'newcomer@example.com', () =>
      call(server.url, 'POST /api/email/send-code', { email: 'newcomer@example.com' }),
    )
    const body = { email: 'newcomer@example.com', code: codeIn(letter) }
    expect((await call(server.url, 'POST /api/email/verify-code', body)).status).toBe(200)
    expect((await enrol(server.url)).sessionToken).toBeTruthy()
  })
})
