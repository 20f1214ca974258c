import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { rooms } from '#shared/api/rooms/rooms'
import { addWallet, axeFaults, go, isLive, openPlaza, walletInBrowser } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ environment: { ADMINS: walletInBrowser.address } })
}, 180_000)
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

test('a channel of the staff is marked for those who are of it, and there for nobody else', async () => {
  const page = await plaza.visit(undefined, addWallet)
  await page.getByRole('button', { name: 'Wallet', exact: true }).click()
  const sign = page.getByRole('button', { name: 'Test Wallet', exact: true })
  await sign.click()
  await page.getByRole('alert').waitFor()
  await sign.click()
  const mine = page.getByRole('navigation', { name: 'Your rooms' })
  await mine.getByRole('link').first().waitFor()
  const asked = { name: 'Bridge', accessLevel: 'staff' } as const
  const { channel } = await plaza.node.callAs(walletInBrowser.address.toLowerCase(), rooms.createChannel, asked)
  await go(page, `/rooms/${encodeURIComponent(`channel:${channel.id}`)}`)
  await page.reload()
  await isLive(page)
  await mine.getByRole('link', { name: /Bridge ?, staff/ }).waitFor()
  const mark = page.locator('.room-head').getByText('Staff', { exact: true })
  expect(await mark.getAttribute('title')).toBe('Only admins and global moderators can see this channel')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []])
  }
  const guest = await plaza.guest()
  expect(await guest.getByRole('link', { name: /Bridge/ }).count()).toBe(0)
})
