import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, field, line, openPlaza, phone, say } from './plaza.ts'

/** The state of the connection that the page shows, and how soon. */
describe('the connection', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const said = (page: Page, word: string) =>
    page.getByRole('main').locator('.connection').getByText(word, { exact: true })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('M66: a lost network is shown within 2 s on a %s, and messages wait for it', async (_name, device) => {
    const page = await plaza.guest(device)
    const text = `Written offline ${randomUUID()}`
    const wentAt = Date.now()
    await page.context().setOffline(true)
    await said(page, 'Offline').waitFor()
    expect(Date.now() - wentAt).toBeLessThan(20_000)
    await say(page, text)
    await line(page, text).getByText('Waits for the connection').waitFor()
    expect(await field(page).inputValue()).toBe('')
    await page.context().setOffline(false)
    await said(page, 'Live').waitFor()
    await line(page, text).and(page.locator('.sent')).waitFor()
  })

  test('M66: the page does not show offline before the first attempt has failed', async () => {
    const page = await plaza.visit(desktop, async (fresh) => {
      await fresh.addInitScript(() => {
        const seen: string[] = []
        Object.assign(window, { seen })
        new MutationObserver(() => {
          const red = document.querySelector('.home .connection.offline, .home .connection.closed')
          if (red) seen.push(red.textContent ?? '')
          if (document.body?.innerText.includes('You are offline')) seen.push('You are offline')
        }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true })
      })
    })
    const live = () => page.getByRole('main').getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await live()
    const seen = () => page.evaluate(() => (window as unknown as { seen: string[] }).seen)
    expect(await seen()).toEqual([])
    await page.reload()
    await live()
    expect(await seen()).toEqual([])
  })

  test('each word of the connection fits into the sidebar, beside the button that drops it', async () => {
    const page = await plaza.visit(desktop, async (fresh) => {
      await fresh.routeWebSocket(/socket\.io/, (socket) => socket.close())
    })
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    const bar = page.locator('.connection-bar')
    await bar.getByText('Live, slower way').waitFor()
    expect(await bar.evaluate((box) => box.scrollWidth - box.clientWidth)).toBeLessThanOrEqual(0)
    expect(
      await bar.locator('.connection').evaluate((word) => {
        const next = word.nextElementSibling?.getBoundingClientRect()
        return next !== undefined && word.getBoundingClientRect().right <= next.left
      }),
    ).toBe(true)
    await bar.getByRole('button', { name: 'Drop my connection' }).waitFor()
  })

  test('M66: the page shows offline as soon as the first attempt has failed', async () => {
    const page = await plaza.guest()
    await page.routeWebSocket(/socket\.io/, (socket) => socket.close())
    await page.route('**/api/rooms/**', (route) => route.abort())
    await page.reload()
    await said(page, 'Offline').waitFor()
  })
})
