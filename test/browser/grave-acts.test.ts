import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { becomeModerator, field, line, openPlaza, say } from './plaza.ts'

describe('acts that are hard to undo', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const speak = async (page: Page) => {
    const text = `Said ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    return text
  }

  test('keys pressed after a click on a message do not moderate; they are typed into the message field', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await becomeModerator(page)
    const said = await speak(other)
    await speak(other)
    const row = line(page, said)
    await row.getByText(said).click()
    await page.keyboard.type('well, 12 done')
    expect(await field(page).inputValue()).toBe('well, 12 done')
    await field(page).fill('')
    await row.focus()
    await row.getByText(said).click()
    await page.keyboard.type('d')
    expect(await field(page).inputValue()).toBe('d')
    expect(
      await page
        .locator('.toasts')
        .getByText(/warned|muted|deleted/i)
        .count(),
    ).toBe(0)
    expect(await row.count()).toBe(1)
    expect(await field(other).isEnabled()).toBe(true)

    await field(page).fill('')
    await row.getByText(said).click()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('p')
    await page.getByText(/Pinned, in effect everywhere/).waitFor()
  })
})
