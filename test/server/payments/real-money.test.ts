// Modes: embedded
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Runs } from '#server/domains/agents/runs/model'
import { agents } from '#shared/api/agents/agents'
import { networks } from '#shared/api/payments/payment-networks'
import { payments } from '#shared/api/payments/payments'
import { type Booted, boot } from '#test/support/boot'
import { type LocalChain, noChain, startChain } from '#test/support/chain'
import { heavy } from '#test/support/heavy'
import { askPublic, paymentOf } from '#test/support/payments'
import { outcomeOf, type Person, person } from '#test/support/people'
import { openRealFacilitator, putToken } from '#test/support/real-facilitator'
import { wallet } from '#test/support/wallet'

const chainId = 84_532
const price = 50_000n
const skipped = noChain ? ` (skipped: ${noChain})` : ''
const model = {
  name: 'quick',
  isScripted: true,
  async *answer() {
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    yield { type: 'text' as const, text: 'Yes.' }
    yield { type: 'end' as const, reason: 'stop' as const, inputTokens: 1, outputTokens: 1 }
  },
}

describe.skipIf(noChain).each([1, 2] as const)(
  `the real token, client and facilitator, by version %d${skipped}`,
  (version) => {
    let chain: LocalChain
    let token: Awaited<ReturnType<typeof putToken>>
    let facilitator: Awaited<ReturnType<typeof openRealFacilitator>>
    let server: Booted
    let owner: Person
    let agent: string
    const payer = wallet(`payer of version ${version}`)

    beforeAll(async () => {
      chain = await startChain(chainId)
      token = await putToken(chain)
      facilitator = await openRealFacilitator(chain)
      server = await boot({
        environment: {
          BETA: 'open',
          X402_FACILITATOR_URL: facilitator.url,
          X402_FACILITATOR_VERSION: String(version),
          [`RPC_URL_${chainId}`]: chain.url,
        },
        services: { model },
      })
      owner = await person(server, `seller of version ${version}`)
      const sold = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
      agent = (await owner.does('rest', agents.create, { name: 'Sold', visibility: 'public', ...sold })).agent.id
      await token.mint(payer.address, 10n * price)
    })
    afterAll(async () => {
      await server?.close()
      await facilitator?.close()
      await chain?.close()
    })

    const paid = async () => ({ from: await token.balanceOf(payer.address), to: await token.balanceOf(owner.account) })
    const charged = async (before: Awaited<ReturnType<typeof paid>>) => {
      const { from, to } = await paid()
      expect(before.from - from).toBe(to - before.to)
      return (to - before.to) / price
    }

    test('the client pays what is asked, and the money is on the chain', async () => {
      const before = await paid()
      const client = new x402HTTPClient(registerExactEvmScheme(new x402Client(), { signer: payer }))
      const unpaid = await askPublic(server.url, agent, 'Hello?')
      // Clients of version 1 look at the body alone.
      const header = (name: string) => (version === 2 ? unpaid.headers.get(name) : null)
      const required = client.getPaymentRequiredResponse(header, unpaid.body)
      expect(required.x402Version).toBe(version)
      const headers = client.encodePaymentSignatureHeader(await client.createPaymentPayload(required))
      const answer = await fetch(`${server.url}/api/public/agents/${agent}/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ message: 'Hello?' }),
      })
      expect(answer.status).toBe(200)
      const settled = client.getPaymentSettleResponse((name) => answer.headers.get(name))
      expect(settled).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
      const receipt = await chain.client.getTransactionReceipt({ hash: settled.transaction as `0x${string}` })
      expect(receipt.status).toBe('success')
      expect(await charged(before)).toBe(1n)
      const { receipts, stats } = await owner.does('rest', payments.receipts, { id: agent })
      expect(receipts[0]).toMatchObject({ transaction: settled.transaction, cents: 5, simulated: false })
      expect(stats).toMatchObject({ paidMessages: 1, totalEarnings: 5 })
    })

    test('20 retries of a settlement whose answer was lost are charged once', heavy, async () => {
      const before = await paid()
      facilitator.lost = 1
      const payment = await paymentOf(payer, { to: owner.account })
      const first = await askPublic(server.url, agent, 'Again?', payment)
      expect(outcomeOf(first)).toBe('202 PAYMENT_PENDING')
      const outcomes: string[] = []
      for (let time = 0; time < 20; time++) {
        const url = server.urls[time % server.urls.length] ?? server.url
        outcomes.push(outcomeOf(await askPublic(url, agent, 'Again?', payment)))
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      expect(outcomes.at(-1)).toBe('200')
      expect(outcomes.filter((outcome) => outcome.startsWith('402'))).toEqual([])
      expect(await charged(before)).toBe(1n)
      expect(await Runs.countDocuments({ agent_id: agent, message: 'Again?' })).toBe(1)
      const { receipts } = await owner.does('rest', payments.receipts, { id: agent })
      expect(receipts[0]).toMatchObject({ state: 'settled', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    })

    test('T30: 50 equal payments at once, on every node, are one answer and one transfer', async () => {
      const before = await paid()
      const payment = await paymentOf(payer, { to: owner.account })
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          askPublic(server.urls[at % server.urls.length] ?? server.url, agent, 'All at once?', payment),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(new Set(answers.map(outcomeOf))).toEqual(new Set(['200', '409 CONFLICT']))
      expect(await charged(before)).toBe(1n)
    })

    test('who has no money is refused, and nothing is sent to the chain', async () => {
      const poor = wallet('without a cent')
      const before = facilitator.asked.length
      const answer = await askPublic(server.url, agent, 'Free?', await paymentOf(poor, { to: owner.account }))
      expect(answer.status).toBe(402)
      expect(facilitator.asked.slice(before)).toEqual(['/verify'])
    })

    test('who has used the nonce of a payment for another transfer has bought nothing', async () => {
      const payment = await paymentOf(payer, { to: owner.account })
      await token.mint(payer.address, price)
      // Another payment with this nonce, to somebody else, as its payer may sign at any time.
      const nonce = JSON.parse(Buffer.from(payment, 'base64').toString()).payload.authorization.nonce
      const elsewhere = await paymentOf(payer, { to: wallet('thief').address, nonce })
      facilitator.lost = 1
      const other = await fetch(`${facilitator.url}/settle`, {
        method: 'POST',
        body: JSON.stringify(settlementOf(elsewhere, wallet('thief').address)),
      }).catch(() => null)
      expect(other).toBeNull()
      const answer = await askPublic(server.url, agent, 'Elsewhere?', payment)
      expect([answer.status, await Runs.countDocuments({ agent_id: agent, message: 'Elsewhere?' })]).toEqual([402, 0])
    })

    const settlementOf = (header: string, payTo: string) => {
      const paymentPayload = JSON.parse(Buffer.from(header, 'base64').toString())
      const extra = { name: 'USDC', version: '2' }
      const { asset } = networks['base-sepolia']
      const required = {
        scheme: 'exact',
        network: 'base-sepolia',
        maxAmountRequired: String(price),
        asset,
        payTo,
        extra,
      }
      return {
        x402Version: 1,
        paymentPayload,
        paymentRequirements: { ...required, maxTimeoutSeconds: 300, resource: 'x' },
      }
    }
  },
)
