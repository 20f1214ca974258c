import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakePartner } from '#server/ports/partner/fake'
import { partnerByKeys, partnerByUrl } from '#server/ports/partner/jwks'
import type { Claims } from '#server/ports/partner/port'
import { partnerIssuer as issuer, openPartner, partnerAudience } from '#test/support/providers'

let partner: Awaited<ReturnType<typeof openPartner>>
beforeAll(async () => {
  partner = await openPartner()
})
afterAll(() => partner.close())

const rules = { issuer, audience: partnerAudience }
const fake = fakePartner(issuer)
const stranger = fakePartner(issuer)
const signed = (claims: Claims) => partner.token(claims)
const signedByOther = async (claims: Claims) => {
  const other = await openPartner()
  const token = await other.token(claims)
  await other.close()
  return token
}
const subjects = {
  'the fake': { open: () => fake, token: fake.token, forged: stranger.token },
  'keys that are given': {
    open: () => partnerByKeys(JSON.stringify(partner.jwks()), rules),
    token: signed,
    forged: signedByOther,
  },
  'keys that are published': {
    open: () => partnerByUrl(`${partner.url}/keys`, rules),
    token: signed,
    forged: signedByOther,
  },
}
const now = Date.now()
const exp = Math.floor(now / 1000) + 60

describe.each(Object.entries(subjects))('the port of partner tokens, by %s', (_name, { open, token, forged }) => {
  test('gives the claims of a token that the partner signed', async () => {
    const verdict = await open().verify(await token({ sub: 'member', user_id: 7 }), now)
    expect(verdict).toMatchObject({ valid: true, claims: { iss: issuer, sub: 'member', user_id: 7 } })
  })

  test('gives tokens whose parts can be read before they are judged', async () => {
    const given = await token({ sub: 'member' })
    expect(decodeJwt(given)).toMatchObject({ iss: issuer, sub: 'member' })
    expect(decodeProtectedHeader(given)).toHaveProperty('alg')
  })

  test('gives the claims of one that has expired, from the second that it names', async () => {
    const given = await token({ sub: 'member', exp })
    expect(await open().verify(given, exp * 1000 - 1)).toMatchObject({ valid: true })
    expect(await open().verify(given, exp * 1000)).toMatchObject({
      valid: false,
      reason: 'expired',
      claims: { sub: 'member', exp },
    })
  })

  test.each([
    ['without an end', { sub: 'member', exp: undefined }],
    ['with an end that is no number', { sub: 'member', exp: 'never' }],
    ['that is not good yet', { sub: 'member', nbf: exp + 60, exp: exp + 120 }],
  ])('refuses one %s', async (_title, claims) => {
    expect(await open().verify(await token(claims), now)).toEqual({ valid: false, reason: 'refused' })
  })

  test('refuses what the partner did not sign', async () => {
    const given = await token({ sub: 'member' })
    const changed = given.replace(/\.[^.]+\./, `.${Buffer.from('{"sub":"other"}').toString('base64url')}.`)
    for (const one of [await forged({ sub: 'member' }), changed, given.slice(0, -8), ''])
      expect(await open().verify(one, now)).toEqual({ valid: false, reason: 'refused' })
  })
})

describe.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)('%s is thrown where the keys cannot be had', (how) => {
  test('by the fake', async () => {
    fake.away = how
    await expect(fake.verify(fake.token({ sub: 'member' }), now)).rejects.toMatchObject({ code: how })
    fake.away = null
  })

  test('by keys that are published', async () => {
    const token = await partner.token({ sub: 'member' })
    partner.mood = how === 'TIMEOUT' ? 'silent' : 'failing'
    const published = partnerByUrl(`${partner.url}/keys`, rules)
    await expect(published.verify(token, now)).rejects.toMatchObject({ code: how })
    partner.mood = 'well'
    expect(await published.verify(token, now)).toMatchObject({ valid: true })
  })
})
