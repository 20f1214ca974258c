import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { field, openPlaza } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const narrow = (width: number) => ({ viewport: { width, height: 740 }, hasTouch: true })

/** What reaches beyond the right edge of the window, or of a box that scrolls up and down alone. */
const beyond = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const named = (element: Element) => `${element.tagName.toLowerCase()}.${[...element.classList].join('.')}`
    const root = document.documentElement
    const wide = root.scrollWidth > root.clientWidth ? [`the page is ${root.scrollWidth} wide`] : []
    const boxes = [...document.querySelectorAll('body *')].filter((element) => {
      const { overflowX, overflowY } = getComputedStyle(element)
      // Whoever lets a box scroll up and down lets it scroll sideways, too.
      const scrolls = overflowY === 'auto' || overflowY === 'scroll'
      // A row of tabs is there to be moved sideways.
      const isTooWide = overflowX === 'auto' && element.scrollWidth > element.clientWidth + 1
      return scrolls && isTooWide && element.role !== 'tablist'
    })
    const out = [...document.querySelectorAll('body *')].filter((element) => {
      const { right, width, height } = element.getBoundingClientRect()
      if (right <= innerWidth + 1 || width === 0 || height === 0) return false
      for (let box = element.parentElement; box; box = box.parentElement)
        if (getComputedStyle(box).overflowX !== 'visible') return false
      return true
    })
    return [...wide, ...boxes.map((box) => `scrolls: ${named(box)}`), ...out.map((one) => `beyond: ${named(one)}`)]
  })

test.each([320, 360, 390])('O27: no screen scrolls sideways on a window of %i pixels', async (width) => {
  const found: Record<string, string[]> = {}
  const look = async (page: Page, name: string) => {
    const out = await beyond(page)
    if (out.length > 0) found[name] = [...new Set(out)].slice(0, 6)
  }
  const first = await plaza.visit(narrow(width))
  await first.locator('.room-preview-lines li').first().waitFor()
  await look(first, 'welcome')
  await first.getByRole('button', { name: 'Live now' }).click()
  await first.waitForLoadState('networkidle')
  await look(first, 'live, signed out')

  const page = await plaza.guest(narrow(width))
  await page.locator('.message').first().waitFor()
  await look(page, 'room')
  const open = async (hash: string) => {
    await page.evaluate((to) => {
      location.hash = to
    }, hash)
    await page.waitForLoadState('networkidle')
    await look(page, hash)
  }
  for (const hash of ['#/', '#/alpha/members', '#/alpha/search', '#/alpha/pins', '#/alpha/media']) await open(hash)
  for (const hash of ['#/agents', '#/agents/new', '#/calls', '#/friends', '#/starred', '#/live', '#/go-live'])
    await open(hash)
  await open('#/profile')
  await open('#/')
  await page.getByRole('button', { name: /Settings$/ }).click()
  await page.getByRole('dialog').getByRole('tab').first().waitFor()
  for (const tab of await page.getByRole('dialog').getByRole('tab').all()) {
    await tab.click()
    await page.waitForLoadState('networkidle')
    await look(page, `settings: ${await tab.innerText()}`)
  }
  const close = async () => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await close()
  await page.getByRole('button', { name: 'Browse channels' }).click()
  await page.getByRole('dialog').getByRole('listitem').first().waitFor()
  await look(page, 'channels')
  await close()
  await open('#/alpha')
  await field(page).fill('A long line that is being written here, which goes on and on')
  await look(page, 'writing')
  await page.getByRole('button', { name: 'Attach' }).click()
  await look(page, 'attach')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More about this room' }).click()
  await look(page, 'menu')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Be the moderator' }).click()
  await page.getByRole('complementary', { name: 'Moderation' }).waitFor()
  await look(page, 'moderation')
  expect(found).toEqual({})
})
