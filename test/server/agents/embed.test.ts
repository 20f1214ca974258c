// Modes: embedded
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium as driver } from 'playwright-core'
import { keccak256, toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { paymentOf } from '#test/support/payments'
import { type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { chromium, freePort } from '#test/support/test-servers'
import { wallet } from '#test/support/wallet'

const run = promisify(execFile)
const puppet = puppetModel()
const facilitator = fakeFacilitator()
const payer = wallet('payer')
let server: Booted
let owner: Person
let agent: string
let code: { embed: string; sdk: string; curl: string }

beforeAll(async () => {
  const port = await freePort()
  const environment = { BETA: 'open', PORT: String(port), PUBLIC_URL: `http://localhost:${port}` }
  server = await boot({ nodes: 1, environment, services: { model: puppet.model, facilitator } })
  owner = await person(server, 'seller')
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  const given = { name: `</script>'"$(touch pwned)`, visibility: 'public' as const, ...price }
  agent = (await owner.does('rest', agents.create, given)).agent.id
  const embed = await owner.does('rest', payments.embed, { id: agent })
  expect(embed.pricing).toMatchObject({ priceCents: 5, pricePerMessage: '$0.05', payTo: owner.account })
  expect(await owner.does('socket', payments.embed, { id: agent })).toEqual(embed)
  code = embed.code
})
afterAll(() => server.close())

async function answerOnce() {
  const question = await puppet.asked()
  question.say('It works.')
  question.end()
  return question.question.turns.at(-1)?.content
}

test('the command line runs as printed: without a payment it tells the price, with one the answer', async () => {
  const { X_PAYMENT: _, ...env } = process.env
  const unpaid = await run('bash', ['-c', code.curl], { env })
  expect(JSON.parse(unpaid.stdout)).toMatchObject({ error: 'Payment Required', accepts: [{ payTo: owner.account }] })
  const paid = run('bash', ['-c', code.curl], {
    env: { ...env, X_PAYMENT: await paymentOf(payer, { to: owner.account }) },
  })
  expect(await answerOnce()).toContain('What can you help me with?')
  expect(JSON.parse((await paid).stdout)).toMatchObject({ success: true, message: 'It works.' })
})

test('the program runs as printed, with the real packages of the protocol', async () => {
  mkdirSync('.cache', { recursive: true })
  // Beside the installed packages, as in a project that has them.
  const directory = mkdtempSync(join('.cache', 'embed-'))
  const file = join(directory, 'ask.mjs')
  writeFileSync(file, code.sdk)
  const env = { ...process.env, PRIVATE_KEY: keccak256(toHex('payer')) }
  const asked = run(process.execPath, [file], { env })
  expect(await answerOnce()).toContain('What can you help me with?')
  expect((await asked).stdout).toBe('It works.\n')
  rmSync(directory, { recursive: true })
  expect(facilitator.charged).toHaveLength(2)
})

test.skipIf(!chromium)('the form works as pasted into a page of another site', heavy, async () => {
  const paidMessages = async () => (await owner.does('rest', payments.receipts, { id: agent })).stats.paidMessages
  const before = await paidMessages()
  const html = `<!doctype html><meta charset="utf-8"><title>A blog</title>${code.embed}`
  const site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(html))
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const opened = await driver.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] })
  try {
    const page = await opened.newPage()
    await page.exposeFunction('signForTest', (json: string) => payer.signTypedData(JSON.parse(json)))
    await page.addInitScript(
      `const asked = { eth_requestAccounts: () => ['${payer.address}'], wallet_switchEthereumChain: ([{ chainId }]) => { if (chainId !== '0x14a34') throw new Error(chainId) }, eth_signTypedData_v4: ([, json]) => window.signForTest(json) }
       window.ethereum = { request: async ({ method, params }) => asked[method](params) }`,
    )
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    await page.getByLabel('Question').fill('From a blog?')
    await page.getByRole('button', { name: 'Ask' }).click()
    expect(await answerOnce()).toContain('From a blog?')
    await expect.poll(() => page.locator('output').textContent()).toBe('It works.')
  } finally {
    await opened.close()
    site.close()
  }
  expect(await paidMessages()).toBe(before + 1)
})
