import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { field, line, openPlaza, phone, say, startPoll } from './plaza.ts'

/** Polls, from the button to the last vote. */
describe('polls', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const form = (page: Page) => page.getByRole('dialog', { name: 'Create poll' })
  const poll = (page: Page, question: string) => page.getByRole('region', { name: `Poll: ${question}` })
  const isInField = (page: Page) => field(page).and(page.locator(':focus')).waitFor()

  test('M61: a poll is made, voted in and closed on a phone', async () => {
    const [one, other] = [await plaza.guest(phone), await plaza.guest(phone)]
    const question = `Tea or coffee ${randomUUID()}`
    await field(one).fill('half a thought')
    await startPoll(one)
    await form(one).getByLabel('Question').fill(question)
    await form(one).getByLabel('Answer 1').fill('Tea')
    await form(one).getByLabel('Answer 2').fill('Coffee')
    await form(one).getByRole('button', { name: 'Add answer' }).click()
    await form(one).getByLabel('Answer 3').fill('Water')
    await form(one).getByRole('button', { name: 'Create poll' }).click()
    await form(one).waitFor({ state: 'detached' })
    await isInField(one)
    expect(await field(one).inputValue()).toBe('half a thought')

    await poll(other, question).getByRole('button', { name: 'Tea' }).click()
    await poll(one, question).getByText('1 vote').waitFor()
    await poll(one, question).getByRole('button', { name: 'Tea 100 %' }).waitFor()
    await poll(one, question).getByRole('button', { name: 'Close poll' }).click()
    await poll(other, question).getByText('closed').waitFor()
    expect(await line(one, question).count()).toBe(1)
  })

  test.each([false, true])('the own vote is shown after a reload (anonymous: %s)', async (isAnonymous) => {
    const page = await plaza.guest()
    const question = `Tea or coffee ${randomUUID()}`
    await startPoll(page)
    await form(page).getByLabel('Question').fill(question)
    await form(page).getByLabel('Answer 1').fill('Tea')
    await form(page).getByLabel('Answer 2').fill('Coffee')
    if (isAnonymous) await form(page).getByLabel('Hide who voted').check()
    await form(page).getByRole('button', { name: 'Create poll' }).click()
    const coffee = (isPressed: boolean) =>
      poll(page, question).getByRole('button', { name: 'Coffee', pressed: isPressed })
    await coffee(false).click()
    await coffee(true).waitFor()
    await page.reload()
    await coffee(true).waitFor()
    await coffee(true).click()
    await coffee(false).waitFor()
    await poll(page, question).getByText('0 votes').waitFor()
  })

  test('M61: a poll is created with the keyboard alone, and Enter in it sends no message', async () => {
    const page = await plaza.guest()
    const [question, draft] = [`By hand ${randomUUID()}`, `A draft ${randomUUID()}`]
    await field(page).focus()
    await page.keyboard.type(draft)
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').waitFor()
    for (const title of ['Voice message', 'Poll']) {
      await page.keyboard.press('ArrowDown')
      await page.locator('[role=menuitem]:focus', { hasText: title }).waitFor()
    }
    await page.keyboard.press('Enter')
    await form(page).getByLabel('Question').and(page.locator(':focus')).waitFor()
    await page.keyboard.type(question)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Yes')
    await page.keyboard.press('Tab')
    await page.keyboard.type('No')
    await page.keyboard.press('Enter')
    await poll(page, question).waitFor()
    await isInField(page)
    expect(await field(page).inputValue()).toBe(draft)
    expect(await line(page, draft).count()).toBe(0)
  })

  test('M61: a refused poll shows the reason, and keeps the typed text', async () => {
    const page = await plaza.guest()
    await say(page, 'A line before')
    await startPoll(page)
    await form(page).getByLabel('Question').fill('Twice the same')
    for (const answer of [1, 2]) await form(page).getByLabel(`Answer ${answer}`).fill('Same')
    await form(page).getByRole('button', { name: 'Create poll' }).click()
    await form(page).getByRole('alert').waitFor()
    expect(await form(page).getByLabel('Question').inputValue()).toBe('Twice the same')
    await page.keyboard.press('Escape')
    await form(page).waitFor({ state: 'detached' })
    await isInField(page)
  })
})
