import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeHumanProofs } from '#server/ports/human-proof/fake'
import { worldId } from '#server/ports/human-proof/world-id'
import { openProofProvider } from '#test/support/providers'

let provider: Awaited<ReturnType<typeof openProofProvider>>
beforeAll(async () => {
  provider = await openProofProvider()
})
afterAll(() => provider.close())

const fake = fakeHumanProofs('orb')
fake.refused.add('0xbad')
const subjects = {
  'the fake': {
    open: () => fake,
    fail(how: typeof fake.away) {
      fake.away = how
    },
  },
  'World ID': {
    open: () => worldId({ baseUrl: provider.url, appId: 'app_test', level: 'orb' }),
    fail(how: typeof fake.away) {
      provider.mood = how === null ? 'well' : how === 'TIMEOUT' ? 'silent' : 'failing'
    },
  },
}
const proof = { action: 'enter', signal: '', proof: '0x1', merkle_root: '0x1', nullifier_hash: '0xAb' }

describe.each(Object.entries(subjects))('the port of human proofs, by %s', (_name, { open, fail }) => {
  test('tells the human and the level of a proof that holds', async () => {
    expect(await open().verify(proof)).toEqual({ valid: true, nullifierHash: '0xAb', level: 'orb' })
    const device = { ...proof, verification_level: 'device' }
    expect(await open().verify(device)).toEqual({ valid: true, nullifierHash: '0xAb', level: 'device' })
  })

  test('says why a proof does not hold', async () => {
    expect(await open().verify({ ...proof, proof: '0xbad' })).toEqual({
      valid: false,
      code: 'invalid_proof',
      detail: 'The proof does not hold.',
    })
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'throws %s where there is no answer, and judges again after',
    async (how) => {
      fail(how)
      await expect(open().verify(proof)).rejects.toMatchObject({ code: how })
      fail(null)
      expect(await open().verify(proof)).toMatchObject({ valid: true })
    },
  )
})
