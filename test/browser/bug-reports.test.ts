import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { pngOf } from '#test/support/pictures'
import { addWallet, axeFaults, deskOf, go, isLive, openPlaza, phone, pressInHeader, walletInBrowser } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ environment: { ADMINS: walletInBrowser.address } })
}, 180_000)
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

test('a fault is reported in the settings of a phone, with a picture, and an admin says that it is resolved', async () => {
  const page = await plaza.guest(phone)
  await page.getByRole('button', { name: 'Back to the rooms' }).click()
  await page.getByRole('button', { name: /Settings|Choose a name/ }).click()
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Report a problem' }).click()
  await settings.getByLabel('Category').selectOption('Chats')
  await settings.getByLabel('What went wrong?').fill('The list jumps\nwhen I scroll.')
  await settings
    .getByLabel('Screenshots and videos')
    .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: pngOf({}) })
  await settings.getByText('1 file selected').waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []])
  }
  await settings.getByRole('button', { name: 'Send report' }).click()
  await page.getByText('The admins have your report.').waitFor()
  expect(await settings.getByLabel('What went wrong?').inputValue()).toBe('')

  const admin = await plaza.visit(undefined, addWallet)
  await admin.getByRole('button', { name: 'Wallet', exact: true }).click()
  await admin.getByRole('button', { name: 'Test Wallet', exact: true }).click()
  await admin.getByRole('alert').getByText('The wallet declined the request').waitFor()
  await admin.getByRole('button', { name: 'Test Wallet', exact: true }).click()
  await admin.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
  await go(admin, '/rooms/alpha')
  await isLive(admin)
  await pressInHeader(admin, 'Moderation')
  await admin.getByRole('tab', { name: 'Problems' }).click()
  const card = deskOf(admin).getByRole('listitem').filter({ hasText: 'The list jumps' })
  await card.getByRole('link', { name: 'File 1' }).waitFor()
  expect(await axeFaults(admin)).toEqual([])
  await card.getByRole('button', { name: 'Resolved' }).click()
  await card.waitFor({ state: 'detached' })
  await deskOf(admin).getByRole('button', { name: 'Resolved', exact: true }).click()
  await card.getByRole('button', { name: 'Open' }).waitFor()
})
