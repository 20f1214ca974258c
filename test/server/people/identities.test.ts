// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountOpenedByEmail, setEmail } from '#server/domains/people/accounts/emails'
import { Accounts } from '#server/domains/people/accounts/model'
import { Identities } from '#server/domains/people/identity/model'
import { fakeChain } from '#server/ports/chain/fake'
import { fakeHumanProofs } from '#server/ports/human-proof/fake'
import { fakePartner } from '#server/ports/partner/fake'
import { identities } from '#shared/api/people/identities'
import { sessions } from '#shared/api/people/sessions'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { humanProof } from '#test/support/providers'
import { signedBySolana, solana, verifySolana } from '#test/support/solana'
import { solo } from '#test/support/solo'
import { call, signed, signIn, wallet } from '#test/support/wallet'

let server: Booted
let url: string
const humanProofs = fakeHumanProofs()
const partnerTokens = fakePartner('https://partner.example')
const optimism = fakeChain(10)
beforeAll(async () => {
  server = await boot({
    entry: 'through the door',
    services: { humanProofs, partnerTokens, chains: new Map([[optimism.id, optimism]]) },
  })
  url = server.url
})
afterAll(() => server.close())

const ways = async (who: Person) => (await who.does('rest', identities.list, {})).identities

describe('linking', () => {
  solo('a wallet, a Solana wallet, a human and a partner identity open the account they were linked to', async () => {
    const me = await person(server, 'linker')
    const second = await signed(me.url, wallet('linker two'))
    const linked = await me.rest('POST /api/identities/wallet', second)
    expect(linked.body).toMatchObject({
      success: true,
      identity: { method: 'wallet', identifier: second.address.toLowerCase(), is_original: false },
    })
    await me.does('rest', identities.linkSolana, await signedBySolana(me.url, solana('linker')))
    const human = await me.rest('POST /api/identities/humanproof', humanProof('0x11'))
    expect(human.body).toMatchObject({ identity: { method: 'worldid', identifier: 'worldid:0x11' } })
    const sso = { token: partnerTokens.token({ sub: 'linked-member' }), isMiniApp: true }
    expect((await me.rest('POST /api/identities/partner', sso)).status).toBe(200)

    const signIns = [
      (await signIn(url, wallet('linker two'))).answer.body,
      (await verifySolana(url, solana('linker'))).body,
      (await call(url, 'POST /api/auth/humanproof-id', humanProof('0x11'))).body,
      (await call(url, 'POST /api/auth/partner-id', { ...sso, token: partnerTokens.token({ sub: 'linked-member' }) }))
        .body,
    ]
    for (const body of signIns) expect(body).toMatchObject({ success: true, userAddress: me.account })
    expect(signIns[0]?.user).toMatchObject({ wallet_type: 'eoa', chain: 'ethereum' })
    expect((await ways(me)).map(({ method, is_original }) => [method, is_original])).toEqual([
      ['wallet', true],
      ['wallet', false],
      ['solana', false],
      ['worldid', false],
      ['alien', false],
    ])
    expect(await Accounts.countDocuments({ _id: { $in: [second.address.toLowerCase(), 'linked-member'] } })).toBe(0)
  })

  solo('linking what is linked already changes nothing', async () => {
    const me = await person(server, 'twice')
    const first = await me.does('rest', identities.linkWallet, await signed(me.url, wallet('twice two')))
    const again = await me.does('rest', identities.linkWallet, await signed(me.url, wallet('twice two')))
    expect(again.identity.id).toBe(first.identity.id)
    const own = await me.does('rest', identities.linkWallet, await signed(me.url, wallet('twice')))
    expect(own.identity).toMatchObject({ is_original: true, identifier: me.account })
  })

  solo('T34: what has an account of its own, or opens another, stays where it is', async () => {
    const [me, other] = [await person(server, 'taker'), await person(server, 'keeper')]
    const owned = await me.refused('rest', identities.linkWallet, await signed(me.url, wallet('keeper')))
    expect(owned).toMatchObject({ code: 'CONFLICT', message: 'This identity has an account of its own' })
    await other.does('rest', identities.linkWallet, await signed(other.url, wallet('keeper two')))
    const elsewhere = await me.refused('rest', identities.linkWallet, await signed(me.url, wallet('keeper two')))
    expect(elsewhere).toMatchObject({ code: 'CONFLICT', message: 'This identity opens another account' })
    expect((await signIn(url, wallet('keeper two'))).address).not.toBe(me.account)
    expect((await signIn(url, wallet('keeper two'))).answer.body.userAddress).toBe(other.account)
  })

  test('T34: of fifty accounts that link one wallet at once one has it', { ...heavy, timeout: 60_000 }, async () => {
    const tokens = Array.from({ length: 50 }, (_, at) => partnerTokens.token({ sub: `racer-${at}` }))
    const racers = await Promise.all(
      tokens.map(async (token) => (await call(url, 'POST /api/auth/partner-id', { token, isMiniApp: true })).body),
    )
    const bodies = await Promise.all(racers.map(() => signedBySolana(url, solana('prize'))))
    const answers = await Promise.all(
      racers.map(({ sessionToken }, at) =>
        call(url, 'POST /api/identities/solana', bodies[at] ?? {}, String(sessionToken)),
      ),
    )
    const winner = racers.find((_, at) => answers[at]?.status === 200)
    expect(answers.map(({ code }) => code).sort()).toEqual([...Array(49).fill('CONFLICT'), null])
    expect((await verifySolana(url, solana('prize'))).body.userAddress).toBe(winner?.userAddress)
  })

  test('T34: a wallet that signs in while it is being linked has one account', async () => {
    const me = await person(server, 'meanwhile')
    const [toLink, toSignIn] = [await signed(me.url, wallet('both at once')), await signed(url, wallet('both at once'))]
    const [linked, entered] = await Promise.all([
      me.rest('POST /api/identities/wallet', toLink),
      call(url, 'POST /api/auth/verify', toSignIn),
    ])
    expect(entered.status).toBe(200)
    const opens = linked.status === 200 ? me.account : toSignIn.address.toLowerCase()
    expect(entered.body.userAddress).toBe(opens)
    expect((await signIn(url, wallet('both at once'))).answer.body.userAddress).toBe(opens)
  })

  test('fifty uses of one signature at once link once', heavy, async () => {
    const [me, again] = [await person(server, 'one signature'), await person(server, 'one signature')]
    // For the address that all nodes have in common.
    const ofAllNodes = (message: string) => message.replaceAll(new URL(me.url).host, 'localhost:3000')
    const body = await signed(me.url, wallet('one signature two'), ofAllNodes)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? again : me).rest('POST /api/identities/wallet', body)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'INVALID_NONCE')).toHaveLength(49)
  })

  solo.each(['wallet', 'solana', 'humanproof', 'partner'])('without a session no %s is linked', async (method) => {
    const bodies: Record<string, object> = {
      wallet: await signed(url, wallet('nobody')),
      solana: await signedBySolana(url, solana('nobody')),
      humanproof: humanProof('0x12'),
      partner: { token: partnerTokens.token({ sub: 'nobody' }), isMiniApp: true },
    }
    const answer = await call(url, `POST /api/identities/${method}`, bodies[method] ?? {})
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })
})

describe('a proof that does not hold links nothing', () => {
  const changes: [string, (message: string) => string, string][] = [
    ['another domain', (m) => m.replace(/^\S+/, 'evil.example'), 'INVALID_DOMAIN'],
    ['another chain', (m) => m.replace(/Chain ID: \d+\n|(?=Nonce)/, 'Chain ID: 424242\n'), 'CHAIN_NOT_SUPPORTED'],
    ['an unknown nonce', (m) => m.replace(/Nonce: \w+/, 'Nonce: abcdefgh12345678'), 'INVALID_NONCE'],
    ['a time that has passed', (m) => `${m}\nExpiration Time: 2020-01-01T00:00:00.000Z`, 'NONCE_EXPIRED'],
    ['a line too many', (m) => `${m}\nNonce: abcdefgh12345678`, 'INVALID_SIGNATURE'],
  ]
  solo.each(changes)('%s', async (_title, change, code) => {
    const me = await person(server, 'prover')
    expect(await me.refused('rest', identities.linkWallet, await signed(me.url, wallet('p2'), change))).toMatchObject({
      code,
    })
    const bySolana = await me.refused('rest', identities.linkSolana, await signedBySolana(me.url, solana('p2'), change))
    expect(bySolana).toMatchObject({ code })
    expect(await ways(me)).toHaveLength(1)
  })

  solo('a contract that does not accept it, or whose chain cannot be asked', async () => {
    const me = await person(server, 'prover')
    optimism.deploy(wallet('contract').address, { accepts: (_message, signature) => signature.endsWith('cd') })
    const body = await signed(me.url, wallet('contract'), (m) => m.replace(/Chain ID: \d+/, 'Chain ID: 10'))
    const link = (end: string) => ({ ...body, signature: `0x${'ab'.repeat(199)}${end}` as const })
    const refusal = await me.refused('rest', identities.linkWallet, link('ab'))
    expect(refusal).toMatchObject({ code: 'INVALID_SIGNATURE' })
    optimism.away = 'UPSTREAM_ERROR'
    expect(await me.refused('rest', identities.linkWallet, link('cd'))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      status: 502,
    })
    optimism.away = null
    expect(await me.does('rest', identities.linkWallet, link('cd'))).toMatchObject({ success: true })
  })

  solo.each([
    [null, 400, 'INVALID_SIGNATURE'],
    ['UPSTREAM_ERROR', 502, 'UPSTREAM_ERROR'],
    ['TIMEOUT', 504, 'TIMEOUT'],
  ] as const)('a human proof that does not hold, where the provider fails with %s', async (away, status, code) => {
    const me = await person(server, 'prover')
    humanProofs.refused.add('0xbad')
    humanProofs.away = away
    const answer = await me.rest('POST /api/identities/humanproof', { ...humanProof('0x13'), proof: '0xbad' })
    humanProofs.away = null
    expect(answer).toMatchObject({ status, code })
  })

  solo('a human proof for a signal nobody issued, and a token the partner did not sign', async () => {
    const me = await person(server, 'prover')
    const proof = { ...humanProof('0x14'), signal: 'plaza:abcdefgh12345678' }
    expect(await me.rest('POST /api/identities/humanproof', proof)).toMatchObject({ code: 'INVALID_NONCE' })
    const token = partnerTokens.token({ sub: 'm' }).slice(0, -8)
    expect(await me.rest('POST /api/identities/partner', { token, isMiniApp: true })).toMatchObject({
      status: 401,
      code: 'INVALID_SIGNATURE',
    })
  })
})

solo('an e-mail address is listed as a way in, as the original where the account came from it', async () => {
  const me = await person(server, 'with an address')
  await setEmail(me.account, 'me@example.com', Date.now())
  expect((await ways(me)).find(({ method }) => method === 'email')).toMatchObject({
    id: null,
    identifier: 'me@example.com',
    is_original: false,
  })
  const account = await accountOpenedByEmail('other@example.com', Date.now())
  const linked = await me.does('rest', identities.linkSolana, await signedBySolana(me.url, solana('of the address')))
  await Identities.updateOne({ _id: linked.identity.id ?? '' }, { $set: { account } })
  const { body } = await verifySolana(url, solana('of the address'))
  const listed = await call(url, 'GET /api/identities', null, String(body.sessionToken))
  expect(listed.body.identities).toMatchObject([
    { method: 'email', identifier: 'other@example.com', is_original: true },
    { method: 'solana', is_original: false },
  ])
})

describe('unlinking', () => {
  solo('removes the way to sign in, and ends the other sessions that began with this method', async () => {
    const me = await person(server, 'unlinker')
    const { identity } = await me.does('rest', identities.linkSolana, await signedBySolana(me.url, solana('unlinker')))
    const there = await verifySolana(url, solana('unlinker'))
    const other = await signIn(url, wallet('unlinker'))
    await me.does('rest', identities.unlink, { id: identity.id ?? '' })
    expect((await call(url, 'GET /api/auth/session', null, String(there.body.sessionToken))).status).toBe(401)
    expect((await call(url, 'GET /api/auth/session', null, other.sessionToken)).status).toBe(200)
    expect((await me.rest('GET /api/auth/session')).status).toBe(200)
    expect((await verifySolana(url, solana('unlinker'))).body.userAddress).toBe(solana('unlinker').address)
    expect(await me.refused('rest', identities.unlink, { id: identity.id ?? '' })).toMatchObject({ code: 'NOT_FOUND' })
  })

  solo('the original stays, so there is always a way in', async () => {
    const me = await person(server, 'original')
    const [original] = await ways(me)
    const refused = await me.refused('rest', identities.unlink, { id: original?.id ?? '' })
    expect(refused).toMatchObject({ code: 'CONFLICT', status: 409 })
    expect((await signIn(url, wallet('original'))).answer.body.userAddress).toBe(me.account)
  })

  solo("somebody else's looks like one that is not there", async () => {
    const [me, other] = [await person(server, 'prying'), await person(server, 'pried')]
    const [theirs] = await ways(other)
    const answers = await Promise.all(
      [theirs?.id ?? '', 'unknown'].map((id) => me.rest(`DELETE /api/identities/${id}`)),
    )
    expect(answers[0]).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    expect(await ways(other)).toHaveLength(1)
    expect((await other.does('rest', sessions.list, {})).sessions).toHaveLength(1)
  })
})
