import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { fakeWeb } from '#server/ports/web/fake'
import { puppetModel } from '#test/support/puppet-model'
import { axeFaults, desktop, field, go, openPlaza, phone, say } from './plaza.ts'

const puppet = puppetModel()
const web = fakeWeb({
  'https://api.test/notes': { headers: { 'content-type': 'application/json' }, body: '{"ok":true}' },
})

describe('what the form of an agent offers', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  const model = { ...puppet.model, searchesWeb: false }
  beforeAll(async () => {
    plaza = await openPlaza({ services: { model, web }, environment: { BETA: 'open' } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const maker = async (name: string, device = desktop): Promise<Page> => {
    const page = await plaza.guest(device)
    await go(page, '/agents')
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill(name)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    return page
  }

  /** A picture that a browser can open. */
  const picture = async (page: Page) => {
    const url = await page.evaluate(() => {
      const canvas = document.createElement('canvas')
      canvas.width = 64
      canvas.height = 64
      const context = canvas.getContext('2d')
      if (context) context.fillStyle = '#c2410c'
      context?.fillRect(0, 0, 64, 64)
      return canvas.toDataURL('image/png')
    })
    return { name: 'it.png', mimeType: 'image/png', buffer: Buffer.from(url.split(',')[1] ?? '', 'base64') }
  }

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('O70: a picture is chosen for an agent, drawn where it is, and taken away, on a %s', async (what, device) => {
    const name = `Painted on a ${what}`
    const page = await maker(name, device)
    const own = page.getByRole('group', { name: 'Its picture' })
    await own.locator('input[type=file]').setInputFiles([await picture(page)])
    await own.getByRole('button', { name: 'Use this picture' }).click()
    await own.getByRole('button', { name: 'Remove picture' }).waitFor()
    const drawn = (place: string) =>
      expect
        .poll(() =>
          page
            .locator(`${place} .agents__agent-picture img`)
            .first()
            .evaluate((one) => (one as HTMLImageElement).naturalWidth),
        )
        .toBeGreaterThan(0)
    await drawn('.agent-head')
    expect(await axeFaults(page)).toEqual([])
    const edit = page.url()
    await go(page, '/agents')
    await drawn('.agents-home__agent-card')
    await page.goto(edit.replace(/\/edit$/, '/chat'))
    await drawn('.agents__agent-begin')
    await page.goto(edit)
    await own.getByRole('button', { name: 'Remove picture' }).click()
    await own.getByRole('button', { name: 'Remove picture' }).waitFor({ state: 'detached' })
    expect(await page.locator('.agents__agent-picture').count()).toBe(0)
  })

  test('O70: a switch that can do nothing is not offered', async () => {
    const page = await maker('Plain')
    const offered = () => page.locator('.agent-form__agent-switches').getByRole('checkbox').count()
    const searches = page.getByRole('checkbox', { name: /Search the web/ })
    const events = page.getByRole('checkbox', { name: /Know its events/ })
    expect([await offered(), await searches.count(), await events.count()]).toEqual([2, 0, 0])
    model.searchesWeb = true
    await Agents.updateOne({ name: 'Plain' }, { $set: { events_access: true } })
    await page.reload()
    await searches.check()
    await events.uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Everything is saved').waitFor()
    expect(await Agents.findOne({ name: 'Plain' }).lean()).toMatchObject({
      web_search_enabled: true,
      events_access: false,
    })
    model.searchesWeb = false
  })

  test('O70: an API is asked by the method, with the headers and by the schema that its owner says', async () => {
    const page = await maker('Noted')
    await page.getByRole('tab', { name: 'Tools' }).click()
    const form = page.getByRole('form', { name: 'Add a tool' })
    await form.getByText('API', { exact: true }).click()
    await form.getByLabel('Name of the tool').fill('Notes')
    await form.getByRole('textbox', { name: 'Address', exact: true }).fill('https://api.test/notes')
    await form.getByText('how it is asked').click()
    await form.getByLabel('Method').selectOption('PUT')
    await form.getByRole('checkbox', { name: /may change data/ }).check()
    await form.getByLabel('Schema').fill('body: { text }')
    await form.getByLabel('Headers').fill('X-Team plaza')
    await form.getByRole('button', { name: 'Add' }).click()
    await form.getByText('a name, a colon and a value').waitFor()
    await form.getByLabel('Headers').fill('X-Team: plaza')
    await form.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('button', { name: 'Edit: Notes' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit Notes' })
    expect(await dialog.getByLabel('Method').inputValue()).toBe('PUT')
    expect(await dialog.getByLabel('Schema').inputValue()).toBe('body: { text }')
    await dialog.getByText('It sends X-Team.').waitFor()
    await dialog.getByLabel('Method').selectOption('POST')
    expect(await axeFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    web.asked.length = 0
    await page.getByRole('button', { name: 'Test Notes' }).click()
    await page.getByText(/Answered in/).waitFor()
    expect(web.asked.map(({ request: { method, headers } }) => [method, headers?.['x-team']])).toEqual([
      ['POST', 'plaza'],
    ])
    expect((await Agents.findOne({ name: 'Noted' }).lean())?.api_tools?.[0]).toMatchObject({
      method: 'POST',
      schema_text: 'body: { text }',
    })
  })

  test('O70: an image in an answer is a link of its words', async () => {
    const page = await maker('Painter')
    await page.goto(page.url().replace(/\/edit$/, '/chat'))
    await field(page).waitFor()
    await say(page, 'Paint')
    const answer = await puppet.asked()
    answer.say('Look: ![a cat](https://elsewhere.invalid/a.png) and ![](https://elsewhere.invalid/b.png), `![x](y)`!')
    answer.end()
    const shown = page.locator('.agents__answer').last()
    await shown.getByRole('link', { name: 'a cat (elsewhere.invalid)' }).waitFor()
    await shown.getByRole('link', { name: 'Picture (elsewhere.invalid)' }).waitFor()
    expect(await shown.innerText()).toContain(
      'Look: a cat (elsewhere.invalid) and Picture (elsewhere.invalid), ![x](y)!',
    )
  })

  test('O70: the price says who asks for free', async () => {
    const page = await maker('Priceless')
    await page.getByRole('tab', { name: 'Price' }).click()
    await page
      .getByText('Without a price, the page of the agent is free, and code on other websites cannot use it.')
      .waitFor()
  })
})
