import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults, openPlaza } from './plaza.ts'

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
  expect(await axeFaults(page)).toEqual([])
  const asked = page.waitForRequest(/\/archives\//)
  await settings.getByRole('button', { name: 'Download', exact: true }).click()
  expect((await asked).method()).toBe('GET')
  await plaza.settle()
})
