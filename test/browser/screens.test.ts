import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fakeVideo } from '#server/ports/video/fake'
import { desktop, field, isLive, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true, services: { video: fakeVideo() } })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const looked = ['color', 'background-color', 'width', 'font-size', 'padding', 'margin', 'display', 'border-radius']

/** How all that is in a part of the page looks. */
const looks = (page: Page, part: string): Promise<string[]> =>
  page
    .locator(part)
    .first()
    .evaluate(async (root, names) => {
      await Promise.allSettled(document.getAnimations().map((one) => one.finished))
      return [root, ...root.querySelectorAll('*')].map((element) => {
        const style = getComputedStyle(element)
        return [element.tagName, ...names.map((name) => `${name} ${style.getPropertyValue(name)}`)].join('; ')
      })
    }, looked)

const screens = ['#/agents', '#/calls', '#/friends', '#/starred', '#/live', '#/profile']

/** Opens every screen that has styles of its own, so that all of them are loaded. */
async function openOthers(page: Page): Promise<void> {
  for (const hash of screens) {
    await page.evaluate((to) => {
      location.hash = to
    }, hash)
    await page.locator('h1').first().waitFor()
    await page.waitForFunction((from) => location.hash === from, hash)
    await page.waitForLoadState('networkidle')
  }
}

const back = async (page: Page, hash: string) => {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
}

test.each([
  ['desktop', desktop],
  ['phone', phone],
])('O80: a room looks the same on a %s after all other screens were opened', async (_name, device) => {
  const page = await plaza.guest(device)
  const fresh = await looks(page, '.composer')
  await openOthers(page)
  await back(page, '#/alpha')
  await field(page).waitFor()
  await isLive(page)
  expect(await looks(page, '.composer')).toEqual(fresh)
})

test('O80: the first screen looks the same after a sign-out as after a reload', async () => {
  const page = await plaza.guest()
  await openOthers(page)
  await page.getByRole('button', { name: /Settings$/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  const way = page.getByRole('button', { name: 'Come back as guest' })
  await way.waitFor()
  const before = await looks(page, '.welcome-words')
  await page.reload()
  await way.waitFor()
  expect(before).toEqual(await looks(page, '.welcome-words'))
})

test('O80: an ended stream is as legible after the agents were opened', async () => {
  const page = await plaza.guest()
  await page.goto(`${plaza.url}/#/go-live`)
  await page.getByRole('textbox', { name: 'Title' }).fill('Over soon')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'End the stream' }).click()
  await page.getByRole('button', { name: 'End the stream: sure?' }).click()
  await page.getByText('There is no recording of it.').waitFor()
  const fresh = await looks(page, '.player-words')
  const hash = new URL(page.url()).hash
  await openOthers(page)
  await back(page, hash)
  await page.getByText('There is no recording of it.').waitFor()
  expect(await looks(page, '.player-words')).toEqual(fresh)
})
