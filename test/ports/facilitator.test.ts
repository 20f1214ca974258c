import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { requirementOf } from '#server/domains/payments/payments/x402'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { httpFacilitator } from '#server/ports/facilitator/http'
import { localFacilitator } from '#server/ports/facilitator/local'
import type { Facilitator, Proof } from '#server/ports/facilitator/port'
import { networks } from '#shared/api/payments/payment-networks'
import { openFacilitator } from '#test/support/providers'

const payTo = `0x${'99'.repeat(20)}` as const
const requirement = requirementOf({
  facts: networks['base-sepolia'],
  amount: '50000',
  payTo,
  resource: 'https://plaza.test/api/public/agents/a/chat',
  description: 'One answer',
})
let made = 0
const proof = (change = {}): Proof => ({
  authorization: {
    from: `0x${'11'.repeat(20)}`,
    to: payTo,
    value: '50000',
    validAfter: '0',
    validBefore: '4102444800',
    nonce: `0x${String(++made).padStart(64, '0')}`,
    ...change,
  },
  signature: `0x${'22'.repeat(65)}`,
})

let provider: Awaited<ReturnType<typeof openFacilitator>>
beforeAll(async () => {
  provider = await openFacilitator()
})
beforeEach(() => Object.assign(provider, { mood: 'well', reason: null, status: 200, answer: null, asked: [] }))
afterAll(() => provider.close())

const fake = fakeFacilitator()
type Away = 'UPSTREAM_ERROR' | 'TIMEOUT' | null
const overHttp = (version: 1 | 2) => ({
  open: (): Facilitator => httpFacilitator(provider.url, version),
  refuse(isRefusing: boolean) {
    provider.reason = isRefusing ? 'insufficient_funds' : null
  },
  fail(how: Away) {
    provider.mood = how === null ? 'well' : how === 'TIMEOUT' ? 'silent' : 'failing'
  },
})
const subjects = {
  'the fake': {
    open: (): Facilitator => fake,
    refuse(isRefusing: boolean) {
      fake.refuses = isRefusing ? 'funds' : null
    },
    fail(how: Away) {
      fake.away = how
    },
  },
  'version 1 over HTTP': overHttp(1),
  'version 2 over HTTP': overHttp(2),
}

describe.each(Object.entries(subjects))('the port of a facilitator, by %s', (_name, { open, refuse, fail }) => {
  test('settles a payment once', async () => {
    const one = proof()
    expect(open().isSimulated).toBe(false)
    expect(await open().verify(one, requirement)).toBeNull()
    const settled = await open().settle(one, requirement)
    expect(settled).toEqual({ state: 'settled', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(await open().settle(one, requirement)).toEqual({ state: 'used' })
  })

  test('says what is wrong with a payment', async () => {
    refuse(true)
    expect(await open().verify(proof(), requirement)).toBe('funds')
    refuse(false)
    expect(await open().verify(proof(), requirement)).toBeNull()
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'throws %s where there is no answer, and answers again after',
    async (how) => {
      fail(how)
      await expect(open().verify(proof(), requirement)).rejects.toMatchObject({ code: how })
      fail(null)
      expect(await open().verify(proof(), requirement)).toBeNull()
    },
  )
})

describe('a facilitator over HTTP', () => {
  test('is asked in the words of version 1', async () => {
    await httpFacilitator(`${provider.url}/`, 1).verify(proof(), requirement)
    const { network, asset } = requirement
    expect(provider.asked).toEqual([
      {
        x402Version: 1,
        paymentPayload: { x402Version: 1, scheme: 'exact', network, payload: expect.objectContaining({}) },
        paymentRequirements: {
          ...{ scheme: 'exact', network, maxAmountRequired: '50000', asset, payTo, maxTimeoutSeconds: 300 },
          ...{ resource: requirement.resource, description: 'One answer', mimeType: 'application/json' },
          extra: { name: 'USDC', version: '2' },
        },
      },
    ])
  })

  test('is asked in the words of version 2', async () => {
    await httpFacilitator(provider.url, 2).settle(proof(), requirement)
    const { asset, extra } = requirement
    const network = 'eip155:84532'
    const accepted = { scheme: 'exact', network, amount: '50000', asset, payTo, maxTimeoutSeconds: 300, extra }
    expect(provider.asked).toMatchObject([
      { x402Version: 2, paymentPayload: { x402Version: 2, accepted }, paymentRequirements: accepted },
    ])
  })

  const settled = (reason: string) => {
    provider.reason = reason
    return httpFacilitator(provider.url, 1).settle(proof(), requirement)
  }

  test.each([
    ['insufficient_funds', 'funds'],
    ['ERC20: transfer amount exceeds balance', 'funds'],
    ['invalid_exact_evm_network_mismatch', 'network'],
    ['invalid_exact_evm_insufficient_balance', 'funds'],
    ['execution reverted: ERC20: transfer amount exceeds balance', 'funds'],
    ['invalid_exact_evm_payload_authorization_valid_before', 'expired'],
    ['payment_expired', 'expired'],
    ['invalid_network', 'network'],
    ['invalid_exact_evm_signature', 'failed'],
    ['invalid_transaction_state', 'failed'],
    ['unsupported_scheme', 'failed'],
  ])('has not charged a payment that it refuses with %s', async (reason, refused) => {
    expect(await settled(reason)).toEqual({ state: 'refused', reason: refused })
  })

  test.each([
    'settlement_pending',
    'unexpected_settle_error',
    'invalid_exact_evm_transaction_failed',
    'invalid_exact_evm_transaction_simulation_failed',
    'Timed out while waiting for the transaction 0x12 of 0x34 at https://rpc.test/secret-key',
    'another reason',
    'invalid_exact_evm_transfer_event_mismatch',
    'gave up after the confirmation of 0x12 has expired',
    'sent, but insufficient confirmations so far',
    'waiting: invalid_network of one of the relays',
    'could not read whether the authorization is used or canceled',
    'settled in part\ninsufficient_funds',
  ])('may have charged a payment of which it says %s', async (reason) => {
    expect(await settled(reason)).toEqual({ state: 'unknown' })
  })

  test.each([
    'invalid_exact_evm_nonce_already_used',
    'execution reverted: FiatTokenV2: authorization is used or canceled',
  ])('finds an authorization used before: %s', async (reason) => {
    expect(await settled(reason)).toEqual({ state: 'used' })
  })

  test('has charged nothing where its transaction was reverted, and something where it names none', async () => {
    const transaction = `0x${'cd'.repeat(32)}`
    const answers = async (answer: object) => {
      provider.answer = answer
      return httpFacilitator(provider.url, 1).settle(proof(), requirement)
    }
    expect(await answers({ success: false, errorReason: 'invalid_exact_evm_transaction_failed', transaction })).toEqual(
      {
        state: 'refused',
        reason: 'failed',
      },
    )
    for (const none of [{}, { transaction: '' }, { transaction: 'done' }])
      expect(await answers({ success: true, ...none })).toEqual({ state: 'unknown' })
  })

  test.each([400, 402, 412])('that refuses with status %d says why', async (status) => {
    Object.assign(provider, { status, reason: 'insufficient_funds' })
    expect(await httpFacilitator(provider.url, 1).verify(proof(), requirement)).toBe('funds')
  })

  test.each(['junk', 'endless', 'elsewhere', 'failing'] as const)('that is %s gives no answer', async (mood) => {
    provider.mood = mood
    for (const what of ['verify', 'settle'] as const)
      await expect(httpFacilitator(provider.url, 1)[what](proof(), requirement)).rejects.toMatchObject({
        code: 'UPSTREAM_ERROR',
      })
  })

  test('that answers something else gives no answer', async () => {
    for (const answer of [{}, { isValid: 'yes' }, { success: 1 }, { error: 'no' }]) {
      Object.assign(provider, { status: 401, answer })
      await expect(httpFacilitator(provider.url, 2).verify(proof(), requirement)).rejects.toMatchObject({
        code: 'UPSTREAM_ERROR',
      })
    }
  })
})

test('the simulated facilitator says that it is one, checks what it is told and names no transaction', async () => {
  expect(localFacilitator.isSimulated).toBe(true)
  expect(await localFacilitator.verify(proof(), requirement)).toBeNull()
  expect(await localFacilitator.verify(proof({ value: '49999' }), requirement)).toBe('funds')
  expect(await localFacilitator.verify(proof({ to: `0x${'88'.repeat(20)}` }), requirement)).toBe('invalid')
  expect(await localFacilitator.settle(proof(), requirement)).toEqual({ state: 'settled', transaction: null })
})
