// Modes: embedded
import { getAddress, type Hex, isAddress, keccak256, toHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { safeAddressOf, safeProfile } from '#server/domains/people/accounts/smart-account'
import { Passkeys } from '#server/domains/people/passkeys/model'
import { storePasskey } from '#server/domains/people/passkeys/passkeys'
import { tokensOf } from '#server/domains/rooms/tokens/gate'
import { wallet as contract } from '#shared/api/people/wallet'
import { type Booted, boot } from '#test/support/boot'
import { type Person, person } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

let made = 0
const somebody = () => person(server, `wallet owner ${++made}`)

/** Somebody whose account is of another kind than a wallet's. */
async function without(wallet_type: string | null, chain: string | null = null): Promise<Person> {
  const who = await somebody()
  await Accounts.updateOne({ _id: who.account }, { $set: { wallet_type, chain } })
  return who
}

const smart = (who: Person, door = 'GET') => who.rest(`${door} /api/wallet/smart-wallet`).then(({ body }) => body)

/** A passkey of the account; its point is any, as nothing here signs. */
async function addPasskey(who: Person): Promise<{ id: string; x: Hex; y: Hex }> {
  const id = `credential-${++made}`
  const [x, y] = [keccak256(toHex(`x ${id}`)), keccak256(toHex(`y ${id}`))]
  const nothing = { display_name: null, transports: [], backed_up: false, last_used_at: null, user_agent: '' }
  await storePasskey({
    ...{ _id: id, user_address: who.account, credential_id: id, public_key_x: x, public_key_y: y, ...nothing },
    ...{ rp_id: 'localhost', counter: 0, user_handle: 'h', aaguid: '0', created_at: new Date() },
  })
  return { id, x, y }
}

describe('the smart account', () => {
  test('of a wallet is there at once, over GET and POST alike', async () => {
    const who = await somebody()
    const address = safeAddressOf(wallet(`wallet owner ${made}`).address)
    const answer = await smart(who)
    expect(answer).toEqual({
      serviceId: who.account,
      smartWalletAddress: address,
      needsPasskey: false,
      passkeyCredentialId: null,
      isDeployed: false,
      walletType: 'eoa',
      canSign: true,
      signerType: 'eoa',
      supportedChains: expect.arrayContaining([expect.objectContaining({ id: 8453, name: 'Base' })]),
      safeAppUrl: `https://app.safe.global/home?safe=base:${address}`,
    })
    expect(await smart(who, 'POST')).toEqual(answer)
    expect(await Accounts.findOne({ _id: who.account }).lean()).toMatchObject({
      smart_wallet_address: address.toLowerCase(),
      smart_wallet_profile: safeProfile.name,
    })
  })

  test.each([
    ['email', 'email', null],
    ['a human proof', 'humanproof_id', null],
    ['a partner', 'partner_id', null],
    ['Solana', 'eoa', 'solana'],
    ['nothing known', null, null],
  ])('of %s waits for a passkey, and is that of the first', async (_title, kind, chain) => {
    const who = await without(kind, chain)
    expect(await smart(who)).toMatchObject({
      ...{ serviceId: who.account, smartWalletAddress: null, needsPasskey: true, passkeyCredentialId: null },
      ...{ isDeployed: false, walletType: kind, canSign: false, signerType: 'none', safeAppUrl: null },
      warning: expect.stringContaining('passkey'),
    })
    const first = await addPasskey(who)
    const second = await addPasskey(who)
    const address = safeAddressOf(first)
    const settled = await smart(who)
    expect(settled).toMatchObject({
      ...{ smartWalletAddress: address, needsPasskey: false, passkeyCredentialId: first.id },
      ...{ walletType: 'passkey', canSign: true, signerType: 'passkey' },
    })
    expect(settled.warning).toBeUndefined()
    expect(await Accounts.findOne({ _id: who.account }).lean()).toMatchObject({
      ...{ smart_wallet_address: address.toLowerCase(), smart_wallet_profile: safeProfile.name },
      ...{ smart_wallet_x: first.x, smart_wallet_y: first.y, wallet_type: 'passkey' },
    })
    await Passkeys.deleteOne({ credential_id: first.id })
    await addPasskey(who)
    expect(await smart(who)).toMatchObject({
      ...{ smartWalletAddress: address, needsPasskey: false, passkeyCredentialId: first.id, canSign: false },
      warning: expect.stringContaining('gone'),
    })
    expect(second.id).not.toBe(first.id)
  })

  test('is stored once, by however many ask at once, and never changes', async () => {
    const who = await without('email')
    await addPasskey(who)
    const answers = await Promise.all(Array.from({ length: 50 }, () => smart(who)))
    expect(new Set(answers.map(({ smartWalletAddress }) => smartWalletAddress)).size).toBe(1)
    await Accounts.updateOne({ _id: who.account }, { $set: { wallet_type: 'eoa', chain: 'ethereum' } })
    expect(await smart(who)).toMatchObject({ smartWalletAddress: answers[0]?.smartWalletAddress })
  })

  test('of a wallet stays when passkeys come', async () => {
    const who = await somebody()
    await addPasskey(who)
    expect(await smart(who)).toMatchObject({ walletType: 'eoa', signerType: 'eoa', passkeyCredentialId: null })
  })

  test.each([324, 300, 232, 424242])('is not on chain %i', async (chainId) => {
    const who = await somebody()
    expect(await who.refused('rest', contract.smartWallet, { chainId })).toMatchObject({
      status: 400,
      code: 'CHAIN_NOT_SUPPORTED',
    })
  })

  test('O64: is the same on another chain', async () => {
    const who = await somebody()
    const { smartWalletAddress, safeAppUrl } = await who.does('rest', contract.smartWallet, { chainId: 1 })
    expect(smartWalletAddress).toBe((await smart(who)).smartWalletAddress)
    expect(safeAppUrl).toBe(`https://app.safe.global/home?safe=eth:${smartWalletAddress}`)
  })

  test('of somebody else is not told', async () => {
    const [one, other] = [await somebody(), await somebody()]
    const asked = await one.rest(`GET /api/wallet/smart-wallet?userAddress=${other.account}`)
    expect(asked).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })

  test('of an account that was erased is nowhere', async () => {
    const who = await somebody()
    await Accounts.deleteOne({ _id: who.account })
    const gone = { status: 404, code: 'USER_NOT_FOUND' }
    const recoveryAddress = wallet('friend').address
    expect(await who.refused('rest', contract.smartWallet, {})).toMatchObject(gone)
    expect(await who.refused('rest', contract.recoverySigner, {})).toMatchObject(gone)
    expect(await who.refused('rest', contract.planRecoverySigner, { recoveryAddress })).toMatchObject(gone)
  })
})

describe('a recovery signer', () => {
  test('is checked, and the call that makes it one is told', async () => {
    const who = await somebody()
    const recoveryAddress = wallet('friend').address
    const plan = await who.does('rest', contract.planRecoverySigner, { recoveryAddress: recoveryAddress.toLowerCase() })
    expect(plan).toMatchObject({
      recoveryAddress,
      transaction: {
        to: (await smart(who)).smartWalletAddress,
        value: '0',
        data: `0x0d582f13${recoveryAddress.slice(2).toLowerCase().padStart(64, '0')}${'1'.padStart(64, '0')}`,
      },
    })
    expect(plan.instructions.length).toBeGreaterThan(0)
  })

  test.each([
    ['nobody', async () => zeroAddress],
    ['what is no address', async () => '0x12'],
    ['the wallet itself', async (who: Person) => who.account],
    ['the smart account itself', async (who: Person) => String((await smart(who)).smartWalletAddress)],
    ['the contract of passkeys', async () => safeProfile.sharedSigner],
  ])('cannot be %s', async (_title, addressOf) => {
    const who = await somebody()
    const recoveryAddress = await addressOf(who)
    expect(await who.refused('rest', contract.planRecoverySigner, { recoveryAddress })).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
    })
  })

  test('needs a smart account', async () => {
    const who = await without('email')
    const recoveryAddress = wallet('friend').address
    const asked = [
      await who.rest('GET /api/wallet/recovery-signer'),
      await who.rest('POST /api/wallet/recovery-signer', { recoveryAddress }),
    ]
    for (const answer of asked)
      expect(answer).toMatchObject({ status: 404, code: 'WALLET_NOT_FOUND', body: { needsWallet: true } })
  })

  test('is not planned from a page of somebody else', async () => {
    const who = await somebody()
    const headers = { origin: 'https://elsewhere.example', cookie: `app_session=${who.token}` }
    const input = { recoveryAddress: wallet('friend').address }
    const asked = await call(server.url, 'POST /api/wallet/recovery-signer', input, undefined, headers)
    expect(asked).toMatchObject({ status: 403 })
  })
})

describe('without an endpoint of a chain', () => {
  const { address } = wallet('rich')
  test.each([
    ['balances', contract.balances, { address }, 'RPC_URL_<chainId>'],
    ['balances there', contract.balances, { address, chains: 'base' }, 'RPC_URL_8453'],
    ['transactions', contract.transactions, { address }, 'RPC_URL_<chainId>'],
    ['the state of a Safe', contract.safeStatus, { address }, 'RPC_URL_<chainId>'],
    ['recovery signers', contract.recoverySigner, {}, 'RPC_URL_'],
  ])('%s are not told, and why is said', async (_title, operation, input, variable) => {
    const refusal = await (await somebody()).refused('rest', operation, input)
    expect(refusal).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    expect(refusal.message).toContain(variable)
  })

  test('cached answers can be cleared all the same', async () => {
    expect(await (await somebody()).does('rest', contract.refreshBalances, { address })).toEqual({ success: true })
  })

  test('a purchase is not opened, and why is said', async () => {
    const refusal = await (await somebody()).refused('rest', contract.onramp, {})
    expect(refusal).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    expect(refusal.message).toContain('ONRAMP_URL')
  })
})

describe('an address', () => {
  const places = ['balances', 'transactions', 'safe-status']
  test.each(places)('has to be given for %s', async (place) => {
    const asked = await (await somebody()).rest(`GET /api/wallet/${place}`)
    expect(asked).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', body: { error: 'Address required' } })
  })

  test.each(places.flatMap((place) => ['0x12', 'email:abc', `0x${'g'.repeat(40)}`].map((bad) => [place, bad])))(
    'of %s is not %s',
    async (place, bad) => {
      const asked = await (await somebody()).rest(`GET /api/wallet/${place}?address=${bad}`)
      expect(asked).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    },
  )

  test.each(['balances', 'transactions'] as const)('has no %s on a chain nobody knows', async (place) => {
    const chain = { balances: 'chains', transactions: 'chain' }[place]
    for (const name of ['8453,nowhere', '324', '424242']) {
      const asked = await (await somebody()).rest(`GET /api/wallet/${place}?address=${zeroAddress}&${chain}=${name}`)
      expect(asked).toMatchObject({ status: 400, code: 'CHAIN_NOT_SUPPORTED' })
    }
  })
})

test.each([
  'GET /api/wallet/smart-wallet',
  'POST /api/wallet/smart-wallet',
  `GET /api/wallet/balances?address=${zeroAddress}`,
  'POST /api/wallet/balances',
  `GET /api/wallet/transactions?address=${zeroAddress}`,
  `GET /api/wallet/safe-status?address=${zeroAddress}`,
  'GET /api/wallet/recovery-signer',
  'POST /api/wallet/recovery-signer',
  'POST /api/wallet/onramp/session',
])('%s is for people who are signed in', async (route) => {
  expect(await call(server.url, route, route.startsWith('GET') ? null : {})).toMatchObject({ status: 401 })
})

test('the tokens that are looked at are written with their checksums, each once', () => {
  const known = [1, 10, 56, 130, 137, 8453, 42161, 43114, 84532, 11155111].flatMap((chain) =>
    tokensOf(chain).map(({ address }) => ({ chain, address })),
  )
  for (const { address } of known) expect(address).toBe(getAddress(address))
  for (const { address } of known) expect(isAddress(address, { strict: true })).toBe(true)
  expect(new Set(known.map(({ chain, address }) => `${chain} ${address}`)).size).toBe(known.length)
})
