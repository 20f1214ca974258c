// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deviceKeys } from '#shared/api/people/device-keys'
import { type Booted, boot } from '#test/support/boot'
import { outcomeOf, type Person, people } from '#test/support/people'
import { call } from '#test/support/wallet'

let server: Booted
let [owner, other] = [] as unknown as [Person, Person]
beforeAll(async () => {
  server = await boot()
  ;[owner, other] = await people(server, 'keeps a key', 'keeps none')
})
afterAll(() => server.close())

const path = '/api/user/messaging-keys'
const nothing = {
  messaging_public_key: null,
  messaging_private_key_encrypted: null,
  messaging_backup_encrypted: null,
  messaging_backup_salt: null,
  messaging_backup_enabled: false,
}

test('what is kept of a messaging key is told to its owner alone, and what is left out stays', async () => {
  expect((await owner.rest(`GET ${path}`)).body).toEqual(nothing)
  const keys = { messaging_public_key: 'cHVibGlj', messaging_private_key_encrypted: 'c2VjcmV0-_8=' }
  const given = { ...nothing, ...keys }
  expect((await owner.rest(`PUT ${path}`, keys)).body).toEqual(given)
  const backup = {
    messaging_backup_encrypted: 'YmFja3Vw',
    messaging_backup_salt: 'c2FsdA==',
    messaging_backup_enabled: true,
  }
  expect((await owner.rest(`POST ${path}`, backup)).body).toEqual({ ...given, ...backup })
  expect(await owner.does('rest', deviceKeys.kept, {})).toEqual({ ...given, ...backup })
  expect(await other.does('rest', deviceKeys.kept, {})).toEqual(nothing)
  expect((await owner.does('rest', deviceKeys.list, { addresses: owner.account })).devices).toEqual([])
  const less = { messaging_private_key_encrypted: '', messaging_backup_encrypted: null, messaging_backup_enabled: null }
  expect(await owner.does('rest', deviceKeys.keep, less)).toEqual({
    ...nothing,
    ...{ messaging_public_key: 'cHVibGlj', messaging_backup_salt: 'c2FsdA==' },
  })
})

test('the keys of somebody else are neither read nor written, and nobody writes without a session', async () => {
  const asked = await other.rest(`GET ${path}?userAddress=${owner.account}`)
  expect(asked).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  const theirs = { messaging_public_key: 'b3RoZXI=', userAddress: owner.account }
  expect(outcomeOf(await other.tries('rest', deviceKeys.keep, theirs))).toBe('403 FORBIDDEN')
  for (const route of [`GET ${path}`, `PUT ${path}`, `POST ${path}`])
    expect((await call(server.url, route, route.startsWith('GET') ? null : {})).status).toBe(401)
})

test.each([
  ['what is no base64', { messaging_public_key: '{"kty":"EC"}' }],
  ['more than a key', { messaging_public_key: 'A'.repeat(1_025) }],
  ['more than a backup', { messaging_backup_encrypted: 'A'.repeat(16_385) }],
  ['a number', { messaging_backup_salt: 1 }],
  ['a word for yes', { messaging_backup_enabled: 'yes' }],
])('%s is refused', async (_title, keys) => {
  expect(await owner.rest(`PUT ${path}`, keys)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
})
