import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { arabicTexts } from '#client/web/texts/arabic/index'
import { germanTexts } from '#client/web/texts/german/index'
import { spanishTexts } from '#client/web/texts/spanish/index'
import { axeFaults, desktop, isLive, line, openPlaza, phone, say } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const rootOf = (page: Page) =>
  page.evaluate(() => {
    const { lang, dir, scrollWidth, clientWidth } = document.documentElement
    return { lang, dir, isTooWide: scrollWidth > clientWidth }
  })

test('O87: a person chooses Arabic, which is read from right to left, and comes back to the same address', async () => {
  const page = await plaza.guest(phone)
  expect(await rootOf(page)).toEqual({ lang: 'en', dir: 'ltr', isTooWide: false })
  await page.goto(`${plaza.url}/settings/appearance`)
  await page.getByRole('combobox', { name: 'Language' }).selectOption('العربية')
  await page.getByRole('dialog', { name: 'الإعدادات' }).getByRole('heading', { name: 'الإعدادات' }).waitFor()
  expect(page.url()).toBe(`${plaza.url}/settings/appearance`)
  expect(await rootOf(page)).toEqual({ lang: 'ar', dir: 'rtl', isTooWide: false })
  expect(await axeFaults(page)).toEqual([])
  await page.goto(`${plaza.url}/rooms/alpha`)
  await isLive(page)
  await page.getByRole('textbox', { name: 'الرسالة', exact: true }).waitFor()
  expect(await rootOf(page)).toEqual({ lang: 'ar', dir: 'rtl', isTooWide: false })
  await page.goto(`${plaza.url}/settings/appearance`)
  await page.getByRole('combobox', { name: 'اللغة' }).selectOption('مثل المتصفح')
  await page.getByRole('dialog', { name: 'Settings' }).waitFor()
})

test('a person chooses size, spacing and clock, which are there before the first paint of the next visit', async () => {
  const page = await plaza.guest(desktop)
  await say(page, 'What is the time?')
  const sent = line(page, 'What is the time?')
  const heightOf = async () => (await sent.boundingBox())?.height ?? 0
  const usual = await heightOf()
  const choose = async (group: string, option: string) => {
    await page.getByRole('group', { name: group }).getByText(option, { exact: true }).click()
    await page.getByRole('radio', { name: option, exact: true, checked: true }).waitFor()
  }
  await page.goto(`${plaza.url}/settings/appearance`)
  await choose('Message spacing', 'Compact')
  await page.goto(`${plaza.url}/rooms/alpha`)
  await sent.waitFor()
  expect(await heightOf()).toBeLessThan(usual)
  await page.goto(`${plaza.url}/settings/appearance`)
  await choose('Text size', 'Largest')
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('combobox', { name: 'Clock' }).selectOption('24 hours (15:30)')
  await page.getByRole('combobox', { name: 'Clock' }).and(page.locator(':has(:checked[value=h23])')).waitFor()
  await page.goto(`${plaza.url}/rooms/alpha`)
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('20px')
  expect(await sent.locator('time').first().textContent()).toMatch(/^\d\d:\d\d$/)
  await page.goto(`${plaza.url}/settings/appearance`)
  await choose('Text size', 'Normal')
  await page.getByRole('combobox', { name: 'Clock' }).selectOption('12 hours (3:30 PM)')
  await page.getByRole('combobox', { name: 'Clock' }).and(page.locator(':has(:checked[value=h12])')).waitFor()
  await page.goto(`${plaza.url}/rooms/alpha`)
  expect(await page.evaluate(() => document.documentElement.dataset.size)).toBeUndefined()
  expect(await sent.locator('time').first().textContent()).toMatch(/^\d{1,2}:\d\d\s[AP]M$/)
})

const german = { ...desktop, locale: 'de-AT' }
const greetings = [germanTexts, spanishTexts, arabicTexts].map(({ welcome }) => String(welcome.guest))
const [inGerman = ''] = greetings

/** The greetings in the scripts that a page has loaded. */
const loadedGreetings = (page: Page) =>
  page.evaluate(async (wanted) => {
    const scripts = performance.getEntriesByType('resource').flatMap(({ name }) => (name.endsWith('.js') ? [name] : []))
    const codes = await Promise.all(scripts.map(async (url) => (await fetch(url)).text()))
    return wanted.filter((greeting) => codes.some((code) => code.includes(greeting)))
  }, greetings)

test('O87: a visitor is greeted in the language of the browser, which alone is loaded', async () => {
  const page = await plaza.visit(german)
  await page.getByRole('button', { name: inGerman }).waitFor()
  expect(await rootOf(page)).toEqual({ lang: 'de', dir: 'ltr', isTooWide: false })
  expect(await loadedGreetings(page)).toEqual([inGerman])
  await page.goto(`${plaza.url}/invite/none`)
  await page.getByText('Diese Einladung ist unbekannt.').waitFor()
  const other = await plaza.visit(desktop)
  await other.getByRole('button', { name: 'Enter as guest' }).waitFor()
  expect(await loadedGreetings(other)).toEqual([])
})

test('O87: a page whose language cannot be loaded is in English', async () => {
  const page = await plaza.visit(german, async (fresh) => {
    await fresh.route('**/assets/*.js', async (route) => {
      const response = await route.fetch()
      const body = await response.text()
      if (body.includes(inGerman)) await route.abort()
      else await route.fulfill({ response, body })
    })
  })
  await page.getByRole('button', { name: 'Enter as guest' }).waitFor()
  expect(await rootOf(page)).toEqual({ lang: 'en', dir: 'ltr', isTooWide: false })
})

test.each([
  ['de-AT', germanTexts],
  ['es-ES', spanishTexts],
  ['ar-EG', arabicTexts],
])('the search beside the rooms is one whole line in %s', async (locale, { welcome, sidebar }) => {
  const page = await plaza.visit({ ...desktop, locale })
  await page.getByRole('button', { name: String(welcome.guest) }).click()
  const search = page.getByRole('button', { name: String(sidebar.search) })
  await search.waitFor()
  const line = await search.locator('.grow').evaluate((box) => ({
    isOne:
      box.getClientRects().length === 1 && box.clientHeight < 2 * Number.parseFloat(getComputedStyle(box).fontSize),
    isWhole: box.scrollWidth <= box.clientWidth,
  }))
  expect(line).toEqual({ isOne: true, isWhole: true })
})

test('a refusal is read in the language of the page', async () => {
  const page = await plaza.visit(german)
  await page.getByRole('button', { name: inGerman }).click()
  await page.getByRole('link', { name: 'No links please' }).click()
  await page.getByRole('heading', { level: 1, name: 'No links please' }).waitFor()
  await isLive(page)
  await page.locator('#composer').fill('https://example.com')
  await page.keyboard.press('Enter')
  await page.getByText('Links sind nicht erlaubt').waitFor()
})
