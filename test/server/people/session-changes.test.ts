// Modes: embedded, two-nodes
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { email } from '#shared/api/people/email'
import { identities, identityChanged } from '#shared/api/people/identities'
import { sessions } from '#shared/api/people/sessions'
import { type Booted, boot } from '#test/support/boot'
import { codeIn, letterAfter, lettersTo } from '#test/support/letters'
import { enrol } from '#test/support/passkeys'
import { type Person, person } from '#test/support/people'
import { signedBySolana, solana } from '#test/support/solana'
import { solo } from '#test/support/solo'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot({ entry: 'through the door' })
})
afterAll(() => server.close())

const idOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? '')).jti as string
const age = (token: string, milliseconds: number) =>
  Sessions.updateOne({ _id: idOf(token) }, { $set: { proven_at: new Date(Date.now() - milliseconds) } })
const dayMilliseconds = 24 * 60 * 60 * 1000

describe('M08: a change is told', () => {
  test('to every device, and by letter to the address before and after', async () => {
    const me = await person(server, 'told')
    const lines = await Promise.all(server.urls.map(() => me.socket('/notifications')))
    const attach = async (address: string) => {
      const letter = await letterAfter(server, address, () => me.rest('POST /api/email/send-code', { email: address }))
      return me.rest('POST /api/email/verify-code', { code: codeIn(letter) })
    }
    const changed = /was added to your account/
    const [first] = [await letterAfterChange('told@example.com', () => attach('told@example.com'))]
    expect(first).toMatch(changed)
    for (const line of lines)
      expect(await line.hears(identityChanged)).toMatchObject({ change: 'added', method: 'email' })
    expect(await letterAfterChange('told@example.com', () => attach('told-2@example.com'))).toContain('told-2@example')
    const linking = async () => me.does('rest', identities.linkSolana, await signedBySolana(me.url, solana('told')))
    const letter = await letterAfterChange('told-2@example.com', linking)
    expect(letter).toContain('a Solana wallet')
    expect(letter).toContain('http://localhost:3000/settings/devices\n')
    expect(await letterAfterChange('told-2@example.com', () => me.does('rest', email.remove, {}))).toContain('removed')
    expect(lines[0]?.all(identityChanged).map(({ change, method }) => [change, method])).toEqual([
      ['added', 'email'],
      ['added', 'email'],
      ['added', 'solana'],
      ['removed', 'email'],
    ])
  })

  const letterAfterChange = async (address: string, act: () => Promise<unknown>): Promise<string> => {
    const changes = async () =>
      (await lettersTo(server, address)).filter(({ subject }) => subject === 'A change to your Plaza account')
    const before = (await changes()).length
    await act()
    await expect.poll(async () => (await changes()).length).toBe(before + 1)
    return (await changes())[0]?.text ?? ''
  }

  solo('M08: signing out everywhere else lists the ways to sign in that were added in the last week', async () => {
    const me = await person(server, 'lister')
    const linked = await me.does('rest', identities.linkSolana, await signedBySolana(me.url, solana('lister')))
    await enrol(server.url, undefined, { token: me.token })
    const number = '+15005550088'
    const text = await letterAfter(server, number, () => me.rest('POST /api/phone/send-code', { phoneNumber: number }))
    await me.rest('POST /api/phone/verify-code', { code: codeIn(text) })
    const { recently_linked } = await me.does('rest', sessions.endOthers, {})
    expect(recently_linked.shift()).toMatchObject({ kind: 'phone', method: 'phone', id: null, identifier: number })
    expect(recently_linked.map(({ kind, method }) => [kind, method])).toEqual([
      ['passkey', 'passkey'],
      ['identity', 'solana'],
    ])
    await me.does('rest', identities.unlink, { id: linked.identity.id ?? '' })
    await me.rest(`DELETE /api/passkey/credential?id=${recently_linked[0]?.id}`)
    const left = await me.does('rest', sessions.endOthers, {})
    expect(left.recently_linked.map(({ kind }) => kind)).toEqual(['phone'])
    await me.rest('POST /api/phone/remove', {})
    expect((await me.does('rest', sessions.endOthers, {})).recently_linked).toEqual([])
  })
})

describe('M08: no line of sessions is longer than ninety days', () => {
  const refresh = (token: string) => call(server.url, 'POST /api/auth/session', { refreshToken: token })

  solo('near the end a session and its refresh token end with the line', async () => {
    const { sessionToken, refreshToken } = await signIn(server.url, wallet('long'))
    await age(sessionToken, 90 * dayMilliseconds - 3_600_000)
    const { body } = await refresh(refreshToken)
    const record = await Sessions.findOne({ _id: idOf(String(body.sessionToken)) }).lean()
    for (const end of [record?.expires_at, record?.refresh_expires_at])
      expect(end?.getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000)
  })

  solo('at the end nothing refreshes it', async () => {
    const who: Person = await person(server, 'too long')
    const { sessionToken, refreshToken } = await signIn(server.url, wallet('too long'))
    await age(sessionToken, 90 * dayMilliseconds)
    expect(await refresh(refreshToken)).toMatchObject({ status: 401, code: 'SESSION_EXPIRED' })
    expect(await call(server.url, 'POST /api/auth/session', {}, sessionToken)).toMatchObject({
      code: 'SESSION_EXPIRED',
    })
    expect((await who.rest('GET /api/auth/session')).status).toBe(200)
  })
})
