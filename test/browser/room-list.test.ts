import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, isLive, line, openPlaza, say } from './plaza.ts'

describe('the list of rooms', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const rows = (page: Page) => page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link')
  const names = (page: Page) => rows(page).locator('.room-name').allInnerTexts()
  const five = async (page: Page) => {
    await page.addLocatorHandler(page.locator('dialog[open]'), () => page.keyboard.press('Escape'))
    await expect.poll(() => rows(page).count(), { timeout: 30_000 }).toBe(5)
  }
  const enter = async (page: Page, name: string) => {
    await rows(page).filter({ hasText: name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await isLive(page)
  }
  const byName = ['Alpha', 'Ask anything', 'No links please', 'Show and tell', 'Slow lane']

  test('M70: a new guest has nothing unread, and rooms are sorted by name, not by activity', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await five(page)
    await five(other)
    expect(await page.locator('.badge').count()).toBe(0)
    await enter(other, 'Show and tell')
    await say(other, `News ${randomUUID()}`)
    await rows(page).filter({ hasText: 'Show and tell' }).locator('.badge').waitFor()
    expect(await rows(page).locator('.badge').first().innerText()).toMatch(/^1/)
    expect(await names(page)).toEqual(byName)
  })

  test('M70: unread rooms are first if that order is chosen, and no room moves under the pointer or the focus', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await five(page)
    await five(other)
    await page.getByRole('button', { name: 'Unread first' }).click()
    await rows(page).first().hover()
    await enter(other, 'Show and tell')
    await say(other, `More ${randomUUID()}`)
    const row = rows(page).filter({ hasText: 'Show and tell' })
    await row.locator('.badge').waitFor()
    expect(await names(page)).toEqual(byName)

    await page.mouse.move(900, 300)
    await page.getByRole('textbox', { name: 'Message', exact: true }).focus()
    await expect.poll(async () => (await names(page))[0]).toBe('Show and tell')
    await rows(page).first().focus()
    await enter(other, 'No links please')
    await say(other, `Again ${randomUUID()}`)
    await rows(page).filter({ hasText: 'No links please' }).locator('.badge').waitFor()
    expect((await names(page))[0]).toBe('Show and tell')
    await page.reload()
    await five(page)
    expect((await names(page)).slice(0, 2)).toEqual(['No links please', 'Show and tell'])
  })

  test('M70: people without a name are shown by a generated one, not by an id', async () => {
    const page = await plaza.visit({ ...desktop }, async (fresh) => {
      await fresh.route('**/api/user/profile', (route) => route.abort())
    })
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await five(page)
    const text = `Who am I ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    const other = await plaza.guest()
    await line(other, text).waitFor()
    const name = await other.locator('.message', { hasText: text }).locator('.who').innerText()
    expect(name).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+ \d\d$/)
    expect(await page.locator('.me strong').innerText()).toBe(name)
    await other.goto(`${plaza.url}/#/alpha/members`)
    const member = other.locator('.member', { hasText: name })
    await member.waitFor()
    expect(await member.getAttribute('title')).toMatch(/^0x[0-9a-f]{40}$/)
    expect(await other.locator('body').innerText()).not.toMatch(/0x[0-9a-f]|email:|passkey:/)
  })

  test('M70: the offer to keep the account is one line, and every icon has a label', async () => {
    const page = await plaza.guest()
    const offer = page.getByRole('complementary', { name: 'Add a passkey' })
    await offer.waitFor()
    expect((await offer.boundingBox())?.height).toBeLessThan(60)
    for (const panel of ['', '/members', '/search']) {
      await page.goto(`${plaza.url}/#/alpha${panel}`)
      const untold = page.locator('.icon-button:not([title]), .send:not([title])')
      expect(await untold.evaluateAll((found) => found.map(({ outerHTML }) => outerHTML))).toEqual([])
    }
  })
})
