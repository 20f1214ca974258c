// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { type Booted, boot } from '#test/support/boot'
import { signedBySolana, solana } from '#test/support/solana'
import { call, sessionStatus, signed, signIn, wallet } from '#test/support/wallet'

let server: Booted
let url: string
beforeAll(async () => {
  server = await boot()
  url = server.url
})
afterAll(() => server.close())

const times = (time: string) => (message: string) => message.replace(/Issued At: \S+/, `Issued At: ${time}`)
const words = (statement: string) => (message: string) => message.replace('Sign in to Plaza.', statement)
const uri = (change: (site: string) => string) => (message: string) =>
  message.replace(/URI: (\S+)/, (_line, site: string) => `URI: ${change(site)}`)
const resources = (message: string) => `${message}\nResources:\n- https://elsewhere.test/all-of-it`
const withoutWords = (message: string) => message.replace('\n\nSign in to Plaza.\n', '\n\n')

describe('O10: a message that is signed', () => {
  const doors = {
    ethereum: async (change: (message: string) => string) =>
      call(url, 'POST /api/auth/verify', await signed(url, wallet('words'), change)),
    solana: async (change: (message: string) => string) =>
      call(url, 'POST /api/auth/verify-solana', await signedBySolana(url, solana('words'), change)),
  }
  describe.each(Object.entries(doors))('by a wallet of %s', (_kind, send) => {
    test.each([
      ['with the words of something else', words('Transfer all of it.')],
      ['that administers', words('Administer Plaza.')],
      ['with another statement that begins as ours', words('Sign in to Plaza. Transfer all of it.')],
      ['that was made in the future', times('2130-01-01T00:00:00.000Z')],
      ['that was made in the year 2000', times('2000-01-01T00:00:00.000Z')],
      ['that was made two days before its nonce', times(new Date(Date.now() - 172_800_000).toISOString())],
      ['that grants resources', resources],
    ])('%s does not sign in, and uses nothing up', async (_what, change) => {
      expect(await send(change)).toMatchObject({ status: 401, code: 'INVALID_SIGNATURE' })
    })

    test.each([
      ['by a clock that is a minute ahead', times(new Date(Date.now() + 60_000).toISOString())],
      ['in words of its client', words('Sign in with Ethereum to the app.')],
      ['in words that name a site', words('Sign in to app.example with your wallet')],
      ['by a clock that is behind', times(new Date(Date.now() - 3_600_000).toISOString())],
      ['with a path in its URI', uri((site) => `${site}/enter?from=wallet`)],
    ])('%s does', async (_what, change) => expect((await send(change)).status).toBe(200))

    test.each([
      ['a user at another host', (site: string) => `${site}@evil.example`],
      ['a user at our host', (site: string) => site.replace('://', '://evil.example@')],
      ['an empty user', (site: string) => site.replace('://', '://@')],
      ['a backslash', (site: string) => `${site}\\@evil.example`],
      ['no slashes', (site: string) => site.replace('://', ':')],
    ])('with %s in its URI does not sign in', async (_what, change) => {
      const { status, code } = await send(uri(change))
      expect(status).toBeGreaterThanOrEqual(400)
      expect(['INVALID_DOMAIN', 'INVALID_SIGNATURE']).toContain(code)
    })
  })

  test('without words signs in', async () => {
    expect((await call(url, 'POST /api/auth/verify', await signed(url, wallet('wordless'), withoutWords))).status).toBe(
      200,
    )
  })

  test('on a chain that cannot be asked is refused with the reason', async () => {
    const asked = await signed(url, wallet('a contract'))
    const contract = { ...asked, signature: `0x${'ab'.repeat(130)}` }
    const why = expect.stringContaining('no node of its chain is configured')
    expect(await call(url, 'POST /api/auth/verify', contract)).toMatchObject({ status: 401, body: { error: why, why } })
  })

  test('O36: by another key is refused without a word of contracts', async () => {
    const asked = await signed(url, wallet('a key'))
    const other = await wallet('another key').signMessage({ message: asked.message })
    for (const signature of [other, `0x${'ab'.repeat(65)}`, '0x']) {
      const answer = await call(url, 'POST /api/auth/verify', { ...asked, signature })
      expect(answer).toMatchObject({ status: signature === '0x' ? expect.any(Number) : 401 })
      expect(answer.body).not.toHaveProperty('why')
      expect(JSON.stringify(answer.body)).not.toContain('contract')
    }
  })
})

describe('O10: a refresh token that was used', () => {
  const refresh = (refreshToken: string) => call(url, 'POST /api/auth/session', { refreshToken })

  test('ends its line at once where it is used again', async () => {
    const { refreshToken, sessionToken } = await signIn(url, wallet('stolen'))
    const fresh = await refresh(refreshToken)
    expect(await sessionStatus(url, String(fresh.body.sessionToken))).toBe(200)
    expect(await refresh(refreshToken)).toMatchObject({ status: 401, code: 'SESSION_INVALID' })
    for (const token of [sessionToken, String(fresh.body.sessionToken)])
      expect(await sessionStatus(url, token)).toBe(401)
    expect((await refresh(String(fresh.body.refreshToken))).status).toBe(401)
  })

  test('is one of a client that asks twice, while it has given nothing yet', async () => {
    const { refreshToken, address } = await signIn(url, wallet('asks twice'))
    const fresh = await refresh(refreshToken)
    // As it is before the first answer, and as older versions store it.
    await Sessions.updateMany({ user_address: address }, { $unset: { refresh_answered_at: '' } })
    expect((await refresh(refreshToken)).status).toBe(401)
    expect(await sessionStatus(url, String(fresh.body.sessionToken))).toBe(200)
    server.setAhead(20)
    expect((await refresh(refreshToken)).status).toBe(401)
    expect(await sessionStatus(url, String(fresh.body.sessionToken))).toBe(401)
    server.setAhead(0)
  })
})
