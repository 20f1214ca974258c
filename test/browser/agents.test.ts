import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ModelFailure } from '#shared/api/agents/run-frames'
import { AppError } from '#shared/errors'
import { puppetModel } from '#test/support/puppet-model'
import { field, go, openPlaza, say } from './plaza.ts'

const puppet = puppetModel()

describe('agents in the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ services: { model: puppet.model } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  /** A guest who makes an agent, and is where it is changed. */
  const maker = async (name: string): Promise<Page> => {
    const page = await plaza.guest()
    await go(page, '/agents')
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill(name)
    for (const choice of await page.locator('.agent-form__agent-switches').getByRole('checkbox').all())
      expect(await choice.isChecked()).toBe(false)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    return page
  }
  const chatOf = async (name: string): Promise<Page> => {
    const page = await maker(name)
    await page.goto(page.url().replace(/\/edit$/, '/chat'))
    await field(page).waitFor()
    return page
  }
  const answerIn = (page: Page) => page.locator('.agents__answer').last()

  test('an answer is shown as it is written, goes on after a reload, and is stopped, on a desktop', async () => {
    const page = await chatOf('Teller')
    await say(page, 'Tell me')
    const answer = await puppet.asked()
    answer.say('Once ')
    await answerIn(page).getByText('Once').waitFor()
    await page.reload()
    await answerIn(page).getByText('Once').waitFor()
    answer.say('upon a **time**')
    await answerIn(page).locator('strong', { hasText: 'time' }).waitFor()
    expect(await page.locator('.agents__exchange').count()).toBe(1)
    await page.getByRole('button', { name: 'Stop' }).click()
    await answerIn(page).getByText('This answer was stopped.').waitFor()
    expect(answer.signal.aborted).toBe(true)
    await page.reload()
    await answerIn(page).getByText('This answer was stopped.').waitFor()
    await answerIn(page).getByText('Once upon a time').waitFor()
  })

  test('an answer that breaks off is kept, and asked for again by a button; a screen reader is told at the end', async () => {
    const page = await chatOf('Breaker')
    const told = page.getByRole('log', { name: 'Answers' })
    await say(page, 'Tell me')
    const first = await puppet.asked()
    first.say('Once ')
    await answerIn(page).getByText('Once').waitFor()
    expect(await told.innerText()).toBe('Breaker is answering.')
    first.fail(new Error('The connection to the model is lost'))
    await page.getByRole('button', { name: 'Ask again' }).click()
    const second = await puppet.asked()
    expect(second.question.turns.at(-1)?.content).toContain('Tell me')
    second.say('All of it')
    second.end()
    await expect.poll(() => told.innerText()).toBe('Breaker: All of it')
    expect(await page.locator('.agents__exchange').count()).toBe(2)
    await page.locator('.agents__exchange').first().getByText('Once').waitFor()
  })

  test('an answer that fails says why and what helps; a question that would fail the same way is not asked again by a button', async () => {
    const page = await chatOf('Failing')
    const again = answerIn(page).getByRole('button', { name: 'Ask again' })
    const fails = async (failure: ModelFailure) => {
      await say(page, `Fail by ${failure}`)
      ;(await puppet.asked()).fail(new AppError('UPSTREAM_ERROR', { details: { failure } }))
    }
    await fails('CONTEXT_TOO_LONG')
    const tooLong = answerIn(page).getByText('too long for the model. The same question fails again.')
    await tooLong.waitFor()
    expect(await again.count()).toBe(0)
    await page.reload()
    await tooLong.waitFor()
    expect(await again.count()).toBe(0)
    await fails('MODEL_BUSY')
    await answerIn(page).getByText('Too many are asking the model at once. Ask again in a minute.').waitFor()
    await again.waitFor()
  })

  test('T26, T27: what an answer holds is text: no picture is fetched, nothing runs, and a link names where it leads', async () => {
    const page = await chatOf('Painter')
    await say(page, 'Paint')
    const answer = await puppet.asked()
    answer.say(
      '![a](https://elsewhere.invalid/a.png?secret)\n\n<img src="https://elsewhere.invalid/b.png" onerror="document.title=1">\n\n',
      '[click](javascript:document.title=1) [https://plaza.example](https://elsewhere.invalid/c)\n\n# Done',
    )
    answer.end()
    await answerIn(page).locator('.heading', { hasText: 'Done' }).waitFor()
    expect(await answerIn(page).locator('img, iframe, style, script').count()).toBe(0)
    expect(await answerIn(page).locator('a[href^="javascript"]').count()).toBe(0)
    const link = answerIn(page).getByRole('link', { name: 'https://plaza.example (elsewhere.invalid)', exact: true })
    expect(await link.getAttribute('title')).toBe('https://elsewhere.invalid/c')
    expect(await page.title()).not.toBe('1')
  })

  test('an agent is tried beside its form, as it was changed', async () => {
    const page = await maker('Tried')
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Speak of the sea')
    await page.getByText('Not saved yet').waitFor()
    await say(page, 'Speak')
    const answer = await puppet.asked()
    expect(answer.question.turns[0]?.content).toContain('Speak of the sea')
    await page.getByText('Everything is saved').waitFor()
    answer.say('The sea')
    answer.end()
    await answerIn(page).getByText('The sea').waitFor()
  })

  test('a page that cannot be read says why and is read again by a button; a tool that fails says after how long', async () => {
    const page = await maker('Reader')
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    await page.getByRole('textbox', { name: 'Address' }).fill('https://plaza.invalid/guide')
    await page.keyboard.press('Enter')
    const known = page.getByRole('list', { name: 'What it knows' })
    await known.getByText('Could not be read').waitFor()
    await page.reload()
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    await known.getByText('Could not be read').waitFor()
    await known.getByRole('button', { name: 'Try again' }).click()
    await known.getByText('Could not be read').waitFor()
    const unused = page.getByText('It answers without these')
    await unused.waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('checkbox', { name: 'Use what it knows' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Everything is saved').waitFor()
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    await known.waitFor()
    expect(await unused.count()).toBe(0)
    await page.getByRole('tab', { name: 'Tools' }).click()
    await page.getByRole('textbox', { name: 'Name of the tool' }).fill('Weather')
    await page.getByRole('textbox', { name: 'Address' }).fill('https://plaza.invalid/mcp')
    await page.getByLabel('Key (optional)').fill('a secret of mine')
    await page.keyboard.press('Enter')
    const tools = page.getByRole('list', { name: 'Its tools' })
    await tools.getByText('with a key').waitFor()
    expect(await page.content()).not.toContain('a secret of mine')
    await tools.getByRole('button', { name: 'Test Weather' }).click()
    await tools.getByText(/Failed after \d+ ms/).waitFor()
    await tools.getByRole('button', { name: 'Remove: Weather' }).click()
    await page.getByText('It has no tools yet').waitFor()
  })

  test('a price is set, with the code by which others ask; it says where payments are simulated', async () => {
    const page = await maker('Seller')
    await page.getByRole('tab', { name: 'Price' }).click()
    await page.getByRole('checkbox', { name: 'Charge visitors per message' }).check()
    await page.getByRole('spinbutton', { name: 'Price per answer' }).fill('25')
    const wallet = page.getByRole('textbox', { name: 'Wallet to be paid' })
    await wallet.fill('0x12')
    await page.getByRole('button', { name: 'Save the price' }).click()
    await page.getByRole('alert').getByText('The address of a wallet is 0x and 40').waitFor()
    await wallet.fill('')
    await page.getByRole('button', { name: 'Save the price' }).click()
    await page.getByText('Payments are only simulated').waitFor()
    await page.getByText('Earned $0.00').waitFor()
    await page.getByText(`${plaza.url}/api/public/agents/`).first().waitFor()
  })

  test('lists that could not be loaded without a network are loaded when it is back', async () => {
    const page = await plaza.guest()
    await go(page, '/agents')
    await page.getByText('No agents yet').waitFor()
    await go(page, '/rooms/alpha')
    await field(page).waitFor()
    await page.context().setOffline(true)
    await go(page, '/agents')
    await page.getByText('The server cannot be reached').first().waitFor()
    await page.context().setOffline(false)
    await page.getByText('No agents yet').waitFor()
    await page.getByText('The server cannot be reached').waitFor({ state: 'detached' })
  })

  test('an agent of somebody else is found and kept as a favorite', async () => {
    const owner = await maker('Lighthouse')
    await owner.getByRole('combobox', { name: 'Who may ask it' }).selectOption('public')
    await owner.getByRole('button', { name: 'Save' }).click()
    await owner.getByText('Everything is saved').waitFor()
    const page = await plaza.guest()
    await go(page, '/agents')
    await page.getByRole('searchbox', { name: 'Find an agent' }).fill('lighth')
    await page.getByRole('button', { name: 'Lighthouse is a favorite' }).click()
    await page.reload()
    await page.getByRole('region', { name: 'Favorites' }).getByRole('link', { name: 'Lighthouse' }).click()
    await page.getByRole('heading', { name: 'Lighthouse', level: 1 }).waitFor()
  })
})
