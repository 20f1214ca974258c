import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, field, openPlaza, phone } from './plaza.ts'

/** The demo, by the links that lead into it. */
describe('the tour', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>

  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const take = async (step: string, device = desktop): Promise<Page> => {
    const page = await plaza.visit(device)
    await page.getByRole('navigation', { name: 'tour' }).getByRole('link', { name: step }).click()
    await page.getByRole('complementary', { name: 'Tour' }).waitFor()
    return page
  }

  test('the rules of a room are shown the first time, and not again', async () => {
    const page = await plaza.visit()
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    const rules = page.getByRole('dialog', { name: 'Rules of Alpha' })
    await rules.getByText('Be kind, be curious').waitFor()
    await page.keyboard.press('Escape')
    await rules.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('main').getByText('Live', { exact: true }).waitFor()
    expect(await rules.count()).toBe(0)

    await page.getByRole('link', { name: 'No links please' }).click()
    await page
      .getByRole('dialog', { name: 'Rules of No links please' })
      .getByRole('button', { name: 'All right' })
      .click()
  })

  test('a link is written already where links are refused', async () => {
    const page = await take('Have a link refused')
    await page.locator('#composer:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Refused' }).getByText('Links are not allowed').waitFor()
  })

  test('every step is a link, and the next one begins as somebody else', async () => {
    const page = await plaza.visit()
    await page.goto(`${plaza.url}/#demo=moderate`)
    await page.getByRole('complementary', { name: 'Moderation' }).waitFor()
    const name = () => page.getByRole('button', { name: 'Settings' }).innerText()
    const moderator = await name()
    await page.getByRole('link', { name: 'Next: Wait in slow mode' }).click()
    await page.getByRole('heading', { level: 1, name: 'Slow lane' }).waitFor()
    expect(await field(page).inputValue()).toBe('No hurry')
    expect(await name()).not.toBe(moderator)
  })

  test('the connection is cut, on a phone too, and comes back', async () => {
    const page = await take('Lose the connection', phone)
    await page.getByText('You are cut off.').waitFor()
    await field(page).fill('Written on my own')
    await page.keyboard.press('Enter')
    await page.getByText('Waits for the connection').waitFor()
    await page.getByRole('button', { name: 'Connect again' }).click()
    await page.locator('.message.sent', { hasText: 'Written on my own' }).waitFor()
  })
})
