import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PushBrowsers, PushPreferences } from '#server/domains/platform/push/model'
import { fakePush } from '#server/ports/push/fake'
import { pushBrowser } from '#test/support/push-browser'
import { axeFaults, desktop, openPlaza } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ services: { push: fakePush() } })
})
afterAll(() => plaza.close())

async function openNotifications(page: Page) {
  await page.getByRole('button', { name: /Settings/ }).click()
  await page.getByRole('dialog', { name: 'Settings' }).getByRole('tab', { name: 'Notifications' }).click()
  return shownNotifications(page)
}

/** A reload shows them again where they were open. */
async function shownNotifications(page: Page) {
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByLabel('Messages in groups').waitFor()
  return settings
}

test('of what somebody is told is chosen in the settings, with hours of nothing but calls', async () => {
  const page = await plaza.guest()
  const settings = await openNotifications(page)
  await settings.getByLabel('Messages in groups').uncheck()
  await settings.getByLabel('Only calls at night').check()
  await settings.getByLabel('From').selectOption('23')
  await expect
    .poll(() => PushPreferences.findOne({ notify_groups: false, quiet_start: 23, quiet_end: 7 }))
    .not.toBe(null)
  expect(await axeFaults(page)).toEqual([])
  await page.reload()
  const again = await shownNotifications(page)
  expect(await again.getByLabel('Messages in groups').isChecked()).toBe(false)
  expect(await again.getByLabel('From').inputValue()).toBe('23')
  await again.getByLabel('Only calls at night').uncheck()
  await expect.poll(() => PushPreferences.countDocuments({ quiet_start: null, quiet_end: null })).toBe(1)
  await plaza.settle()
})

test('quiet hours are by the clock of the browser in which they are chosen', async () => {
  const page = await plaza.guest({ ...desktop, timezoneId: 'Asia/Kathmandu' })
  const settings = await openNotifications(page)
  await settings.getByLabel('Only calls at night').check()
  const zone = { $in: ['Asia/Kathmandu', 'Asia/Katmandu'] }
  await expect
    .poll(() => PushPreferences.countDocuments({ quiet_start: 22, quiet_end: 7, quiet_timezone: zone }))
    .toBe(1)
  await PushPreferences.updateMany({ quiet_timezone: zone }, { $set: { quiet_timezone: 'Europe/Berlin' } })
  await page.reload()
  const again = await shownNotifications(page)
  await again.getByText('In the time zone Europe/Berlin.').waitFor()
  expect(await again.getByLabel('From').inputValue()).toBe('22')
  expect(await axeFaults(page)).toEqual([])
  await again.getByLabel(/^To/).selectOption('8')
  await expect
    .poll(() => PushPreferences.countDocuments({ quiet_start: 22, quiet_end: 8, quiet_timezone: zone }))
    .toBe(1)
  await again.getByText('In the time zone').waitFor({ state: 'detached' })
  await plaza.settle()
})

test('a browser that refuses, or has no push, says what can be done', async () => {
  const page = await plaza.guest()
  await page.addInitScript(() => {
    Object.assign(window, {
      Notification: class {
        static permission = 'denied'
        static async requestPermission(): Promise<string> {
          return 'denied'
        }
      },
    })
  })
  await page.reload()
  const settings = await openNotifications(page)
  await settings.getByText('Your browser blocks notifications from this site.').waitFor()
  for (const title of [
    'Direct messages and mentions while Plaza is in the background',
    'Notifications while Plaza is closed',
  ]) {
    const toggle = settings.getByLabel(title)
    await toggle.click()
    await expect
      .poll(() => page.getByText('Your browser blocks notifications from this site.').count())
      .toBeGreaterThan(1)
    await expect.poll(() => toggle.isChecked()).toBe(false)
  }
  expect(await axeFaults(page)).toEqual([])
  expect(await PushBrowsers.countDocuments({})).toBe(0)
  await page.addInitScript(() => Reflect.deleteProperty(window, 'PushManager'))
  await page.reload()
  await (await shownNotifications(page)).getByText('cannot notify you while Plaza is closed').waitFor()
  await plaza.settle()
})

test('O31: this browser is told while the page is closed, and again after it is loaded, until that is turned off', async () => {
  const page = await plaza.guest()
  await page.addInitScript((asJson) => {
    const subscription = { ...asJson, toJSON: () => asJson, unsubscribe: async () => localStorage.removeItem('there') }
    Object.assign(window, {
      Notification: class {
        static permission = 'granted'
        static async requestPermission(): Promise<string> {
          return 'granted'
        }
      },
    })
    PushManager.prototype.subscribe = async () => {
      localStorage.setItem('there', 'yes')
      return subscription as unknown as PushSubscription
    }
    PushManager.prototype.getSubscription = async () =>
      localStorage.getItem('there') === null ? null : (subscription as unknown as PushSubscription)
  }, pushBrowser('https://push.test/1').asJson)
  await page.reload()
  const toggle = (await openNotifications(page)).getByLabel('Notifications while Plaza is closed')
  await toggle.click()
  await expect.poll(() => PushBrowsers.countDocuments({})).toBe(1)
  // The browser keeps it only once the server has answered.
  await expect.poll(() => toggle.isChecked()).toBe(true)
  await PushBrowsers.deleteMany({})
  await page.reload()
  await expect.poll(() => PushBrowsers.countDocuments({})).toBe(1)
  // O31: a subscription that the browser has dropped.
  await page.evaluate(() => localStorage.removeItem('there'))
  await PushBrowsers.deleteMany({})
  await page.reload()
  await expect.poll(() => PushBrowsers.countDocuments({})).toBe(1)
  await expect.poll(() => toggle.isChecked()).toBe(true)
  await toggle.click()
  await expect.poll(() => PushBrowsers.countDocuments({})).toBe(0)
  await plaza.settle()
})
