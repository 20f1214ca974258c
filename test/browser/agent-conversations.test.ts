import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { puppetModel } from '#test/support/puppet-model'
import { axeFaults, field, go, openPlaza, phone, say } from './plaza.ts'

const puppet = puppetModel()

describe('conversations with an agent in the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ services: { model: puppet.model } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const chatOf = async (name: string, more: object = {}): Promise<Page> => {
    const page = await plaza.guest(more)
    await go(page, '/agents')
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill(name)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.goto(page.url().replace(/\/edit$/, '/chat'))
    await field(page).waitFor()
    return page
  }
  /** Asks, and has the model answer. */
  const ask = async (page: Page, question: string, answer = `Of ${question}`) => {
    await say(page, question)
    await answerWith(page, answer)
  }
  const answerWith = async (page: Page, text: string) => {
    const answer = await puppet.asked()
    answer.say(text)
    answer.end()
    await page
      .locator('.agents__answer')
      .last()
      .getByText(text.split('\n')[0] ?? '')
      .waitFor()
    await page.locator('.agents__working').waitFor({ state: 'detached' })
    return answer.question.turns.map(({ content }) => content)
  }
  const listOf = (page: Page) => page.getByRole('list', { name: 'Conversations' })
  const questions = (page: Page) => page.locator('.agents__question p').allInnerTexts()

  test('are begun, found, renamed and deleted, each with an address of its own, on a desktop', async () => {
    const page = await chatOf('Talker')
    await ask(page, 'About the sea')
    await listOf(page).getByRole('link', { name: 'About the sea' }).waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Ask something to begin.').waitFor()
    await ask(page, 'About the sky')
    await listOf(page).getByRole('link', { name: 'About the sky' }).waitFor()
    expect(await questions(page)).toEqual(['About the sky'])
    await page.reload()
    await page.getByText('Of About the sky').waitFor()
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('SEA')
    await expect.poll(() => listOf(page).getByRole('link').count()).toBe(1)
    await listOf(page).getByRole('link', { name: 'About the sea' }).click()
    await page.getByText('Of About the sea').waitFor()
    expect(await questions(page)).toEqual(['About the sea'])
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('')
    await page.getByRole('button', { name: 'More of About the sky' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Clouds')
    await page.getByRole('button', { name: 'Save' }).click()
    await listOf(page).getByRole('link', { name: 'Clouds' }).waitFor()
    await page.getByRole('button', { name: 'More of Clouds' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => listOf(page).getByRole('link').count()).toBe(1)
    expect(await axeFaults(page)).toEqual([])
  })

  test('are in a dialog on a phone', async () => {
    const page = await chatOf('Pocket', phone)
    await ask(page, 'First of all')
    await page.getByRole('button', { name: 'Conversations' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'First of all' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'New conversation' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('Ask something to begin.').waitFor()
  })

  test('a question is edited and an answer is given again in its place; an answer and its code are copied', async () => {
    const page = await chatOf('Editor')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await ask(page, 'First')
    await ask(page, 'Wrong')
    await page.getByRole('button', { name: 'Edit the question' }).last().click()
    await page.getByRole('textbox', { name: 'Question' }).fill('Right')
    await page.keyboard.press('Enter')
    expect((await answerWith(page, 'Once')).slice(1)).toEqual(['First', 'Of First', 'Right'])
    await expect.poll(() => questions(page)).toEqual(['First', 'Right'])
    await page.getByRole('button', { name: 'Answer again' }).click()
    expect((await answerWith(page, 'Twice\n\n```js\nlet a = 1\n```')).slice(1)).toEqual(['First', 'Of First', 'Right'])
    await expect.poll(() => questions(page)).toEqual(['First', 'Right'])
    expect(await page.getByText('Once').count()).toBe(0)
    await page.getByRole('button', { name: 'Copy the code' }).click()
    expect(await copied()).toBe('let a = 1')
    await page.getByRole('button', { name: 'Copy the answer' }).last().click()
    expect(await copied()).toBe('Twice\n\n```js\nlet a = 1\n```')
    await page.reload()
    await page.getByText('Twice').waitFor()
    expect(await questions(page)).toEqual(['First', 'Right'])
    expect(await axeFaults(page)).toEqual([])
  })
})
