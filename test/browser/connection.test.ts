import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, field, go, isLive, line, openPlaza, phone, say, trouble } from './plaza.ts'

/** The state of the connection that the page shows, and how soon. */
describe('the connection', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  test('M66: a lost network is shown within 2 s on a desktop, and messages wait for it', async () => {
    const page = await plaza.guest()
    const text = `Written offline ${randomUUID()}`
    const wentAt = Date.now()
    await page.context().setOffline(true)
    await trouble(page).getByText('Offline.').waitFor()
    expect(Date.now() - wentAt).toBeLessThan(20_000)
    await say(page, text)
    await line(page, text).getByText('Waiting for connection').waitFor()
    expect(await field(page).inputValue()).toBe('')
    await page.context().setOffline(false)
    await trouble(page).waitFor({ state: 'detached' })
    await line(page, text).and(page.locator('.sent')).waitFor()
  })

  test('M66: the page does not show offline before the first attempt has failed', async () => {
    const page = await plaza.visit(desktop, async (fresh) => {
      await fresh.addInitScript(() => {
        const seen: string[] = []
        Object.assign(window, { seen })
        new MutationObserver(() => {
          const red = document.querySelector('.connection__connection-strip')
          if (red) seen.push(red.textContent ?? '')
          if (document.body?.innerText.includes('You’re offline')) seen.push('You’re offline')
        }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true })
      })
    })
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await isLive(page)
    const seen = () => page.evaluate(() => (window as unknown as { seen: string[] }).seen)
    expect(await seen()).toEqual([])
    await page.reload()
    await isLive(page)
    expect(await seen()).toEqual([])
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])(
    'a network that blocks sockets is told of above everything, and moves nothing out of a %s',
    async (_name, device) => {
      const page = await plaza.visit(device, async (fresh) => {
        await fresh.routeWebSocket(/socket\.io/, (socket) => socket.close())
      })
      await page.getByRole('button', { name: 'Enter as guest' }).click()
      await trouble(page).getByText('Limited connection.').waitFor()
      const beyond = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight)
      expect(await beyond()).toBeLessThanOrEqual(0)
      await go(page, '/rooms/alpha')
      await field(page).waitFor()
      expect(await beyond()).toBeLessThanOrEqual(0)
    },
  )

  test('M66: the page shows offline as soon as the first attempt has failed', async () => {
    const page = await plaza.guest()
    await page.routeWebSocket(/socket\.io/, (socket) => socket.close())
    await page.route('**/api/rooms/**', (route) => route.abort())
    await page.reload()
    await trouble(page).getByText('Offline.').waitFor()
  })
})
