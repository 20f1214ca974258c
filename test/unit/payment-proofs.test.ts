import { readFileSync } from 'node:fs'
import { domainSeparator, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { digestOf, judgeProof } from '#server/domains/payments/payments/exact'
import { networkNamed, type PaymentOffer } from '#server/domains/payments/payments/scheme'
import {
  paymentRequired,
  readProof,
  requiredHeaders,
  requirementOf,
  settledHeaders,
} from '#server/domains/payments/payments/x402'
import {
  centsOf,
  domainOf,
  type NetworkFacts,
  networks,
  priceText,
  unitsOf,
} from '#shared/api/payments/payment-networks'

const network = z.enum(['base', 'base-sepolia'])
const Vector = z.object({
  label: z.string(),
  requirement: z.object({ network, amount: z.string(), recipient: z.string() }),
  expect: z.string(),
  payment: z.record(z.string(), z.unknown()),
  headerBase64: z.string(),
  headerFlatJson: z.string(),
  digest: z.string(),
})
const {
  vectors,
  verifyAtUnix,
  networks: known,
  paymentRequiredBodySample,
  ...rest
} = z
  .object({
    vectors: z.array(Vector),
    verifyAtUnix: z.number(),
    payerPrivateKey: z.string(),
    payer: z.string(),
    recipient: z.string(),
    networks: z.record(network, z.object({ chainId: z.number(), asset: z.string(), domainSeparator: z.string() })),
    paymentRequiredBodySample: z.record(z.string(), z.unknown()),
  })
  .parse(JSON.parse(readFileSync('test/vectors/x402-v1.json', 'utf8')))

const now = verifyAtUnix * 1000
const base64 = (text: string) => Buffer.from(text).toString('base64')
const wanted = (facts: NetworkFacts, amount = '50000', payTo = rest.recipient): PaymentOffer => ({
  facts,
  amount,
  payTo: payTo as Hex,
  resource: 'http://localhost:3000/api/public/agents/AGENT_ID/chat',
  description: 'one message',
})
const judge = async (header: string, want: PaymentOffer, chain: Parameters<typeof judgeProof>[3] = null) =>
  (await judgeProof(header, want, now, chain)) ?? 'ok'

const forms = {
  'base64 of the envelope': ({ headerBase64 }: z.infer<typeof Vector>) => headerBase64,
  'the envelope as JSON': ({ payment }: z.infer<typeof Vector>) => JSON.stringify(payment),
  'its fields as JSON': ({ headerFlatJson }: z.infer<typeof Vector>) => headerFlatJson,
  'base64 of its fields': ({ headerFlatJson }: z.infer<typeof Vector>) => base64(headerFlatJson),
  'the envelope of version 2': (vector: z.infer<typeof Vector>) => second(vector, {}),
}
/** Wrapped as version 2 has it, with the offer repeated as clients do. */
function second({ payment: { network, payload }, requirement }: z.infer<typeof Vector>, change: object): string {
  const { asset, name, version } = networks[requirement.network]
  const { amount, recipient: payTo } = requirement
  const chain = network === 'polygon' ? 'eip155:137' : chainOf(network)
  const offer = { scheme: 'exact', network: chain, amount, asset, payTo, maxTimeoutSeconds: 300 }
  const accepted = { ...offer, extra: { name, version }, ...change }
  return base64(JSON.stringify({ x402Version: 2, accepted, payload }))
}
const chainOf = (name: unknown) => `eip155:${networkNamed(String(name))?.chainId}`

describe.each(Object.entries(forms))('a payment as %s', (_form, headerOf) => {
  test.each(vectors)('that is $label ($requirement.network) is judged $expect', async (vector) => {
    const { amount, recipient, network } = vector.requirement
    expect(await judge(headerOf(vector), wanted(networks[network], amount, recipient))).toBe(vector.expect)
  })
})

/** Of the others the digest is of something else than what is sent. */
const exact = vectors.filter(({ label }) => label === 'exact amount')
describe.each(exact)('T30: a payment of version 2 ($requirement.network)', (vector) => {
  const { amount, recipient, network } = vector.requirement
  const judged = (change: object) => judge(second(vector, change), wanted(networks[network], amount, recipient))

  test('may leave out what was offered, and write addresses in any case', async () => {
    const left = { amount: undefined, asset: undefined, payTo: undefined, extra: undefined }
    expect(await judged(left)).toBe('ok')
    const loud = (address: string) => `0x${address.slice(2).toUpperCase()}`
    expect(await judged({ asset: loud(networks[network].asset), payTo: loud(recipient) })).toBe('ok')
  })

  test.each([
    ['less', { amount: '1' }],
    ['more', { amount: '50001' }],
    ['another token', { asset: '0x1CC827d4755cB7b7C8A93372e665F72B245976d8' }],
    ['another payee', { payTo: '0x1CC827d4755cB7b7C8A93372e665F72B245976d8' }],
    ['another name of the token', { extra: { name: 'Coin of another', version: '2' } }],
    ['another version of the token', { extra: { version: '1' } }],
    ['no amount', { amount: 'all' }],
  ])('that says it accepted another offer is refused: %s', async (_what, change) => {
    expect(await judged(change)).toBe('INVALID_PAYMENT')
  })
})

const truly = ['exact amount', 'overpaid', 'underpaid', 'expired', 'not yet valid', 'other recipient']
const sent = vectors.filter(({ label }) => truly.includes(label))
test.each(sent)('the digest of the payment that is $label ($requirement.network) is that of the vector', (vector) => {
  const proof = readProof(vector.headerBase64)
  expect(proof && digestOf(proof, networks[vector.requirement.network])).toBe(vector.digest)
})

test.each(Object.values(networks))('the domain of the token of $network is that of its contract', (facts) => {
  const { chainId, asset, domainSeparator: separator } = known[facts.network]
  expect(facts).toMatchObject({ chainId, asset })
  expect(domainSeparator({ domain: domainOf(facts) })).toBe(separator)
})

describe('T30: what is no payment', () => {
  const [good] = vectors.map(({ headerFlatJson }) => JSON.parse(headerFlatJson) as Record<string, unknown>)
  const flat = (change: object) => JSON.stringify({ ...good, ...change })
  const envelope = (change: object) => JSON.stringify({ ...vectors[0]?.payment, ...change })
  const deep = `${'{"a":'.repeat(1_500)}1${'}'.repeat(1_500)}`

  test.each([
    ['empty', ''],
    ['no JSON and no base64', 'pay me later'],
    ['JSON that ends early', '{"from":'],
    ['a list', base64('[]')],
    ['null', base64('null')],
    ['a number', base64('12')],
    ['bytes that are no text', '/w=='],
    ['nested without end', deep],
    ['longer than 8 KB', flat({ more: 'x'.repeat(9_000) })],
    ['an amount in hexadecimal', flat({ amount: '0x10' })],
    ['a negative amount', flat({ amount: '-50000' })],
    ['an amount with a point', flat({ amount: '50000.0' })],
    ['an amount with an exponent', flat({ amount: '1e30' })],
    ['an amount beyond what a number holds', flat({ amount: 1e30 })],
    ['an amount with spaces', flat({ amount: ' 50000' })],
    ['an amount of 2^256', flat({ amount: String(2n ** 256n) })],
    ['an amount with a leading zero', flat({ amount: '050000' })],
    ['no amount', flat({ amount: undefined })],
    ['two amounts', flat({ value: '1' })],
    ['two recipients', flat({ recipient: `0x${'1'.repeat(40)}` })],
    ['a nonce of 31 bytes', flat({ nonce: `0x${'1'.repeat(62)}` })],
    ['no signature', flat({ signature: undefined })],
    ['an empty signature', flat({ signature: '0x' })],
    ['a signature of another', flat({ signature: `0x${'1'.repeat(130)}` })],
    ['another scheme', envelope({ scheme: 'upto' })],
    ['version 3', envelope({ x402Version: 3 })],
    ['version 2 without what was accepted', envelope({ x402Version: 2 })],
    ['an envelope without a version, with fields beside it', JSON.stringify({ ...good, payload: {} })],
  ])('is refused: %s', async (_what, header) => {
    expect(await judge(header, wanted(networks['base-sepolia']))).toBe('INVALID_PAYMENT')
  })

  test('has an amount of more than ten times the price', async () => {
    // The amount of the vector is signed; the price is what differs.
    const paying = (price: string) => judge(flat({}), wanted(networks['base-sepolia'], price))
    expect(await Promise.all(['5000', '4999', '1'].map(paying))).toEqual(['ok', 'INVALID_PAYMENT', 'INVALID_PAYMENT'])
  })

  test.each(['__proto__', 'constructor', 'toString', 'polygon', 'BASE', 'eip155:1'])(
    'names a network that is not ours: %s',
    async (name) => {
      expect(await judge(flat({ network: name }), wanted(networks['base-sepolia']))).toBe('WRONG_NETWORK')
    },
  )
})

describe('a payment', () => {
  const payer = privateKeyToAccount(rest.payerPrivateKey as Hex)
  const facts = networks['base-sepolia']
  const until = async (validBefore: number, validAfter = 0, value = '50000') => {
    const nonce = `0x${'ab'.repeat(32)}` as const
    const authorization = { from: payer.address, to: rest.recipient as Hex, value, nonce }
    const times = { validAfter: String(validAfter), validBefore: String(validBefore) }
    const proof = { authorization: { ...authorization, ...times }, signature: '0x' as Hex }
    const signature = await payer.sign({ hash: digestOf(proof, facts) })
    return JSON.stringify({ network: 'base-sepolia', ...proof.authorization, signature })
  }

  test('is compared to the last unit, beyond what a number holds', async () => {
    const [less, price, more] = ['9007199254740992', '9007199254740993', '9007199254740994']
    const ofValue = (value: string) => until(verifyAtUnix + 60, 0, value)
    expect(await judge(await ofValue(less), wanted(facts, price))).toBe('INSUFFICIENT_PAYMENT')
    for (const value of [price, more]) expect(await judge(await ofValue(value), wanted(facts, price))).toBe('ok')
  })

  test('is good for at least six seconds more, and from its first second on', async () => {
    expect(await judge(await until(verifyAtUnix + 6), wanted(facts))).toBe('ok')
    expect(await judge(await until(verifyAtUnix + 5), wanted(facts))).toBe('PAYMENT_EXPIRED')
    expect(await judge(await until(verifyAtUnix + 60, verifyAtUnix), wanted(facts))).toBe('ok')
    expect(await judge(await until(verifyAtUnix + 60, verifyAtUnix + 1), wanted(facts))).toBe('INVALID_PAYMENT')
  })

  test('of a contract wallet is judged by the contract, and refused where there is no chain to ask', async () => {
    const header = JSON.stringify({
      ...JSON.parse(await until(verifyAtUnix + 60)),
      signature: `0x${'77'.repeat(80)}`,
    })
    expect(await judge(header, wanted(facts))).toBe('INVALID_PAYMENT')
    expect(await judge(header, wanted(facts), { verifyHash: async () => true })).toBe('ok')
    expect(await judge(header, wanted(facts), { verifyHash: async () => false })).toBe('INVALID_PAYMENT')
  })

  test('has its money in whole units and whole cents', () => {
    expect([unitsOf(1), unitsOf(10_000), centsOf('50000'), centsOf('59999'), centsOf('9999')]).toEqual([
      ...['10000', '100000000'],
      ...[5, 5, 0],
    ])
    expect([priceText(5), priceText(10_000), priceText(110)]).toEqual(['$0.05', '$100.00', '$1.10'])
  })
})

describe('what is to be paid', () => {
  const requirement = requirementOf(wanted(networks['base-sepolia']))
  const read = (header: string | undefined) => JSON.parse(Buffer.from(header ?? '', 'base64').toString())

  test('is told in the shape of the documents and of version 1, also at the top level', () => {
    const { error: _, message: __, accepts: ___, ...sample } = paymentRequiredBodySample
    const body = paymentRequired(requirement)
    expect(body).toMatchObject(sample)
    expect(body.accepts).toEqual(body.paymentRequirements.accepts)
  })

  test('is in headers as JSON, and as base64 in the words of version 2', () => {
    const headers = requiredHeaders({ ...requirement, description: 'Zoë 🤖' }, 'Payment Required')
    expect(headers['X-Payment-Required']).toMatch(/^[ -~]+$/)
    expect(JSON.parse(headers['X-Payment-Required'] ?? '')).toMatchObject({
      x402Version: 1,
      accepts: [{ description: 'Zoë 🤖', maxAmountRequired: '50000' }],
    })
    expect(read(headers['PAYMENT-REQUIRED'])).toMatchObject({
      x402Version: 2,
      resource: { description: 'Zoë 🤖' },
      accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: '50000', payTo: rest.recipient }],
    })
  })

  test('is said to be settled in headers of both versions', () => {
    const headers = settledHeaders(networks['base-sepolia'], { payer: rest.payer, transaction: null })
    const told = { success: true, transaction: '', payer: rest.payer }
    expect(read(headers['X-PAYMENT-RESPONSE'])).toEqual({ ...told, network: 'base-sepolia' })
    expect(read(headers['PAYMENT-RESPONSE'])).toEqual({ ...told, network: 'eip155:84532' })
  })
})
