import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults, desktop, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

async function openPoints(page: Page) {
  await page.getByRole('button', { name: /Settings/ }).click()
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Points' }).click()
  return settings
}

test.each([
  ['desktop', desktop],
  ['phone', phone],
])('points are claimed on a %s, and seen at once', async (_name, device) => {
  const page = await plaza.guest(device)
  if (device === phone) await page.getByRole('button', { name: 'Back to the rooms' }).click()
  const settings = await openPoints(page)
  await settings.locator('.points__points-total', { hasText: /^ ?0 points/ }).waitFor()
  await settings.getByRole('button', { name: 'Claim the daily bonus' }).click()
  await settings.getByText(/^Again in/).waitFor()
  await settings.locator('.points__points-total', { hasText: '3 points' }).waitFor()
  await settings.getByRole('list', { name: 'Points history' }).getByText('Daily bonus').waitFor()
  const own = settings.getByRole('list', { name: 'Leaderboard' }).getByRole('listitem').filter({ hasText: 'You' })
  await expect.poll(() => own.textContent()).toMatch(/^1.*You3 points$/)
  expect(await axeFaults(page)).toEqual([])
  await settings.getByRole('button', { name: 'Go there: Choose a username' }).click()
  await settings.getByRole('tab', { name: 'Profile', selected: true }).waitFor()
  await plaza.settle()
})

test('an invite gives both their points, which are seen at once', async () => {
  const host = await openPoints(await plaza.guest())
  await host.getByText('5 of 5 invites left.').waitFor()
  const code = await host.getByRole('list', { name: 'Invites' }).locator('code').first().textContent()

  const newcomer = await plaza.guest(phone)
  await newcomer.getByRole('button', { name: 'Back to the rooms' }).click()
  const guest = await openPoints(newcomer)
  await guest.getByLabel('Invite code').fill('nothing')
  await guest.getByRole('button', { name: 'Use', exact: true }).click()
  await guest.getByRole('alert').getByText('This code is not known').waitFor()
  await guest.getByLabel('Invite code').fill(code?.toLowerCase() ?? '')
  await guest.getByRole('button', { name: 'Use', exact: true }).click()
  await guest.locator('.points__points-total', { hasText: '100 points' }).waitFor()
  expect(await axeFaults(newcomer)).toEqual([])

  await host.locator('.points__points-total', { hasText: '100 points' }).waitFor()
  await host.getByText('4 of 5 invites left.').waitFor()
  await host.getByText(/^Used by/).waitFor()
  await plaza.settle()
})
