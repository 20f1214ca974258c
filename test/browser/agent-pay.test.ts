import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Runs } from '#server/domains/agents/runs/model'
import { Payments } from '#server/domains/payments/payments/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { askPublic, paymentOf } from '#test/support/payments'
import { type Person, personAt } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { wallet } from '#test/support/wallet'
import { axeFaults, desktop, field, go, openPlaza, phone, say } from './plaza.ts'

const puppet = puppetModel()
const facilitator = fakeFacilitator()
const payer = wallet('payer in a browser')

describe('the page of a public agent', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  let owner: Person
  let agent: string
  let made = 0
  beforeAll(async () => {
    const simulated = { ...facilitator, isSimulated: true }
    plaza = await openPlaza({
      services: { model: puppet.model, facilitator: simulated },
      environment: { BETA: 'open' },
    })
  })
  beforeEach(async () => {
    Object.assign(facilitator, { charged: [], asked: { verify: 0, settle: 0 } })
    owner = await personAt(plaza.url, `seller ${++made}`)
    agent = await shared({ x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const shared = async (price: object) => {
    const given = { name: `Agent ${++made}`, personality: 'Knows the sea', visibility: 'public' as const, ...price }
    return (await owner.does('rest', agents.create, given)).agent.id
  }
  const open = async (device = desktop, prepare?: (page: Page) => Promise<void>): Promise<Page> => {
    const page = await plaza.visit(device, prepare)
    await page.goto(`${plaza.url}/agents/${agent}`)
    return page
  }
  const answerIn = (page: Page) => page.locator('.agents__answer').last()
  const answer = async (...words: string[]) => {
    const asked = await puppet.asked()
    asked.say(...words)
    asked.end()
    return asked
  }
  const pay = (page: Page) => page.getByRole('button', { name: 'Pay with a test wallet' })

  test('says what an answer costs, is paid by a test wallet, and is there after a reload, on a desktop', async () => {
    const page = await open()
    await page.getByText('$0.05 per answer').waitFor()
    await page.getByText('a script answers').waitFor()
    await page.getByText('Payments are only simulated').waitFor()
    await say(page, 'How deep is the sea?')
    await pay(page).waitFor()
    expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })
    await pay(page).dblclick()
    const asked = await puppet.asked()
    expect(asked.question.turns.at(-1)?.content).toContain('How deep is the sea?')
    asked.say('Very ')
    await answerIn(page).getByText('Very').waitFor()
    asked.say('**deep**.')
    asked.end()
    await answerIn(page).locator('strong', { hasText: 'deep' }).waitFor()
    await answerIn(page).getByText('Paid $0.05 of test money').waitFor()
    await page.reload()
    await page.getByText('How deep is the sea?').waitFor()
    await answerIn(page).getByText('Very deep.').waitFor()
    await page.getByText('1 answer paid for in this browser').waitFor()
    expect(facilitator.charged).toHaveLength(1)
    await say(page, 'And how wide?')
    await pay(page).click()
    const { question } = await answer('Very wide.')
    expect(question.turns.map(({ content }) => content)).toContain('How deep is the sea?')
    await answerIn(page).getByText('Very wide.').waitFor()
    expect(await page.locator('.agents__exchange').count()).toBe(2)
  })

  test('says that it loads while an agent that could not be loaded is asked for again', async () => {
    let answered = () => {}
    const held = new Promise<void>((resolve) => {
      answered = resolve
    })
    let isAway = true
    const page = await open(desktop, async (fresh) => {
      await fresh.route('**/api/public/agents/**', async (route) => {
        if (isAway) return route.abort()
        await held
        return route.continue()
      })
    })
    await page.getByText('This agent cannot be opened').waitFor()
    isAway = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('status', { name: 'Loading the agent' }).waitFor()
    expect(await page.getByText('This agent cannot be opened').count()).toBe(0)
    answered()
    await page.getByText('$0.05 per answer').waitFor()
  })

  test('T30: a page that is reloaded while it pays, and while it is answered, is charged once', async () => {
    let settle: () => void = () => undefined
    facilitator.meanwhile = () =>
      new Promise((resolve) => {
        settle = resolve
      })
    const page = await open()
    await say(page, 'How deep?')
    await pay(page).click()
    await expect.poll(() => facilitator.asked.settle).toBe(1)
    await page.reload()
    await page.getByText('You are not charged twice').waitFor()
    facilitator.meanwhile = () => undefined
    settle()
    const asked = await puppet.asked()
    asked.say('Very ')
    await page.reload()
    await answerIn(page).getByText('Very').waitFor()
    asked.say('deep.')
    asked.end()
    await answerIn(page).getByText('Very deep.').waitFor()
    expect(await page.locator('.agents__exchange').count()).toBe(1)
    expect(facilitator.charged).toHaveLength(1)
    expect(await Runs.countDocuments({ agent_id: agent })).toBe(1)
  })

  test('T30: a payment of which nobody knows yet is looked at again and never made twice', async () => {
    facilitator.settlements = ['lost', 'TIMEOUT']
    const page = await open()
    await say(page, 'How deep?')
    await pay(page).click()
    await answerIn(page).getByText('It is not known yet whether the payment went through').waitFor()
    await page.reload()
    await answer('Deep.')
    await answerIn(page).getByText('Deep.').waitFor()
    expect(facilitator.charged).toHaveLength(1)
  })

  test('a person who says no in the wallet has paid nothing, and may pay after; the wallet signs what the page says', async () => {
    const signed: string[] = []
    const page = await open(desktop, async (fresh) => {
      await fresh.exposeFunction('askWallet', async (method: string, json: string) => {
        if (method === 'eth_requestAccounts') return [payer.address]
        if (method === 'wallet_switchEthereumChain') return null
        signed.push(json)
        return signed.length === 1 ? 'refuse' : payer.signTypedData(JSON.parse(json))
      })
      await fresh.addInitScript(() => {
        const { askWallet } = window as unknown as { askWallet(method: string, json: unknown): Promise<unknown> }
        const request = async ({ method, params }: { method: string; params?: unknown[] }) => {
          const answered = await askWallet(method, params?.[1])
          if (answered === 'refuse') throw { code: 4001, message: 'User rejected the request.' }
          return answered
        }
        Object.assign(window, { ethereum: { request } })
      })
    })
    await say(page, 'How deep?')
    await page.getByRole('button', { name: 'Pay with Browser wallet' }).click()
    await answerIn(page).getByText('The wallet declined the request. Nothing was signed.').waitFor()
    expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })
    await page.getByRole('button', { name: 'Pay with Browser wallet' }).click()
    await answer('Deep.')
    await answerIn(page).getByText('Deep.').waitFor()
    expect(JSON.parse(signed[1] ?? '')).toMatchObject({
      primaryType: 'TransferWithAuthorization',
      domain: { chainId: 84_532 },
      message: { value: '50000', to: owner.account },
    })
    expect(facilitator.charged).toHaveLength(1)
  })

  test('an answer that fails is asked for again without paying; a payment that is refused says why', async () => {
    facilitator.refuses = 'funds'
    const page = await open()
    await say(page, 'How deep?')
    await pay(page).click()
    await answerIn(page).getByText('The wallet has too little USDC').waitFor()
    facilitator.refuses = null
    await pay(page).click()
    ;(await puppet.asked()).fail(new Error('The connection to the model is lost'))
    await page.getByRole('button', { name: 'Try again without paying' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Try again without paying' }).click()
    await answer('Deep.')
    await answerIn(page).getByText('Deep.').waitFor()
    await page.reload()
    await answerIn(page).getByText('Deep.').waitFor()
    expect(await page.locator('.agents__exchange').count()).toBe(1)
    expect(facilitator.charged).toHaveLength(1)
  })

  test('a payment that was made for another question says so, and this one is paid for by itself', async () => {
    let first: string | null = null
    let isTaken = false
    const page = await open(desktop, async (fresh) => {
      await fresh.route('**/chat?stream=true', async (route) => {
        const { payment, ...rest } = (route.request().postDataJSON() ?? {}) as { payment?: string }
        if (payment === undefined || isTaken) return route.continue()
        first ??= payment
        isTaken = payment !== first
        return route.continue({ postData: JSON.stringify({ ...rest, payment: first }) })
      })
    })
    await say(page, 'How deep?')
    await pay(page).click()
    await answer('Deep.')
    await answerIn(page).getByText('Deep.').waitFor()
    await say(page, 'How wide?')
    await pay(page).click()
    await answerIn(page).getByText('This payment was made for something else').waitFor()
    expect(facilitator.charged).toHaveLength(1)
    await page.getByRole('button', { name: 'Ask again' }).click()
    await pay(page).click()
    await answer('Wide.')
    await answerIn(page).getByText('Wide.').waitFor()
    expect(facilitator.charged).toHaveLength(2)
  })

  test('an answer that failed five times is not offered for another try, also after a reload; its payment is named', async () => {
    const page = await open()
    await say(page, 'How deep?')
    await pay(page).click()
    for (let time = 1; time <= 5; time++) {
      ;(await puppet.asked()).fail(new Error('The connection to the model is lost'))
      if (time < 5) await page.getByRole('button', { name: 'Try again without paying' }).click()
    }
    const { _id } = (await Payments.findOne({ agent_id: agent }).lean()) ?? {}
    for (const again of [false, true]) {
      if (again) await page.reload()
      await answerIn(page).getByText('this payment is used up').waitFor()
      expect(await answerIn(page).innerText()).toContain(_id)
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    }
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await field(page).inputValue()).toBe('How deep?')
    expect(facilitator.charged).toHaveLength(1)
  })

  test('an answer that was cut off says so, also after a reload', async () => {
    const page = await open()
    await say(page, 'How deep?')
    await pay(page).click()
    const asked = await puppet.asked()
    asked.say('Very')
    asked.end('length')
    for (const again of [false, true]) {
      if (again) await page.reload()
      await answerIn(page).getByText('The answer was cut off here').waitFor()
    }
  })

  test('an agent without a price answers a visitor at once, as a guest', async () => {
    agent = await shared({})
    const page = await open(phone)
    await page.getByText('Answers are free').waitFor()
    await page.getByText('a script answers').waitFor()
    await say(page, 'How deep?')
    await answer('Deep.')
    await answerIn(page).getByText('Deep.').waitFor()
    await page.reload()
    await answerIn(page).getByText('Deep.').waitFor()
    expect(await page.locator('.agents__exchange').count()).toBe(1)
  })

  test('its owner sees its page, what it has earned and each receipt', async () => {
    const page = await plaza.guest()
    const account = await page.evaluate(() => localStorage.getItem('plaza.guest-address') ?? '')
    await go(page, '/agents/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('Seller')
    await page.getByRole('combobox', { name: 'Who may ask it' }).selectOption('public')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('tab', { name: 'Price' }).click()
    await page.getByRole('checkbox', { name: 'Charge visitors per message' }).check()
    await page.getByRole('spinbutton', { name: 'Price per answer' }).fill('5')
    await page.getByRole('button', { name: 'Save the price' }).click()
    await page.getByText('Nobody has paid for an answer yet').waitFor()
    const link = page.getByRole('link', { name: `${plaza.url}/agents/` })
    agent = (await link.getAttribute('href'))?.split('/').at(-1) ?? ''
    const asked = askPublic(plaza.url, agent, 'Hello?', await paymentOf(payer, { to: account }))
    await answer('Yes.')
    expect((await asked).status).toBe(200)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('Earned $0.05 from 1 paid answer').waitFor()
    await page.getByRole('list', { name: 'Receipts' }).getByText('simulated').waitFor()
  })

  test('an agent that is not public is like one that does not exist', async () => {
    agent = (await owner.does('rest', agents.create, { name: 'Own' })).agent.id
    const page = await open()
    await page.getByText('There is no such agent').waitFor()
  })
})
