import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults, go, openPlaza } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

test('a copy of one’s data is made and downloaded in the settings', async () => {
  const page = await plaza.guest()
  await page.getByRole('button', { name: /Settings/ }).click()
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Your data' }).click()
  await settings.getByRole('button', { name: 'Request a copy' }).click()
  await settings.getByText(/prepared on .*It is deleted after 7 days/).waitFor()
  await settings.getByText(/^You can request a new copy after /).waitFor()
  const again = settings.getByRole('button', { name: 'Request a new copy' })
  expect(await again.getAttribute('aria-disabled')).toBe('true')
  expect(await axeFaults(page)).toEqual([])
  const asked = page.waitForRequest(/\/archives\//)
  await settings.getByRole('button', { name: 'Download', exact: true }).click()
  expect((await asked).method()).toBe('GET')
  await plaza.settle()
})

test('an account is deleted only once its name is typed', async () => {
  const page = await plaza.guest()
  await go(page, '/settings/data')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('button', { name: 'Delete account' }).click()
  const form = page.getByRole('form', { name: 'Delete account' })
  const typed = form.getByRole('textbox', { name: /^Type .* to confirm$/ })
  const erase = form.getByRole('button', { name: 'Delete account' })
  await typed.fill('somebody else')
  expect(await erase.isDisabled()).toBe(true)
  const label = await form.getByText(/^Type .* to confirm$/).innerText()
  await typed.fill(label.replace(/^Type | to confirm$/g, '').replace(/[\u2066-\u2069]/g, ''))
  await expect.poll(() => erase.isEnabled()).toBe(true)
  expect(await axeFaults(page)).toEqual([])
  await plaza.settle()
})
