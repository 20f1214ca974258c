// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { ConfigError } from '#server/kernel/settings'
import { type Booted, boot } from '#test/support/boot'
import { call } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot({ nodes: 1 })
})
afterAll(() => server.close())

const proof = { action: 'a', signal: '', proof: '0x1', merkle_root: '0x1', nullifier_hash: '0x1' }
test.each([
  ['POST /api/auth/humanproof-id', proof],
  ['POST /api/auth/world-id', proof],
  ['GET /api/auth/humanproof-id', null],
  ['POST /api/auth/partner-id', { token: 'a.b.c', isMiniApp: true }],
  ['POST /api/auth/alien-id', { token: 'a.b.c', isMiniApp: true }],
])('%s says that it is not configured, and signs nobody in', async (route, input) => {
  const answer = await call(server.url, route, input)
  expect(answer).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', body: { success: false } })
  expect(answer.body.error).toMatch(/not configured here$/)
  expect(answer.headers.get('set-cookie')).toBeNull()
})

test.each([
  ['an issuer', { PARTNER_AUDIENCE: 'plaza' }],
  ['an audience', { PARTNER_ISSUER: 'https://partner.example' }],
  ['either', {}],
])('M04: partner keys without %s stop the start with one sentence', (_title, rules) => {
  for (const keys of [
    { PARTNER_JWKS_URL: 'https://partner.example/keys' },
    { PARTNER_JWKS: '{"keys":[{"kty":"OKP"}]}' },
  ])
    expect(() => readConfig({ ...keys, ...rules })).toThrow(ConfigError)
  expect(() => readConfig({ PARTNER_JWKS_URL: 'https://partner.example/keys', ...rules })).toThrow(
    /^PARTNER_ISSUER and PARTNER_AUDIENCE are required with partner keys: .+\.$/,
  )
})
