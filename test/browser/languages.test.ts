import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { axeFaults, desktop, isLive, openPlaza, phone } from './plaza.ts'

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

test('O87: a visitor is greeted in the language of the browser', async () => {
  const page = await plaza.visit({ ...desktop, locale: 'de-AT' })
  await page.getByRole('button', { name: 'Als Gast eintreten' }).waitFor()
  expect(await rootOf(page)).toEqual({ lang: 'de', dir: 'ltr', isTooWide: false })
})
