import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { addWallet, desktop, openPlaza, walletInBrowser } from './plaza.ts'

describe('the installation', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>

  beforeAll(async () => {
    plaza = await openPlaza({ environment: { ADMINS: walletInBrowser.address } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const operator = async () => {
    const page = await plaza.visit(desktop, addWallet)
    await page.getByRole('button', { name: 'Wallet', exact: true }).click()
    const sign = page.getByRole('button', { name: 'Test Wallet' })
    await sign.click()
    await page.getByRole('alert').waitFor()
    await sign.click()
    await page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
    await page.getByRole('button', { name: 'Installation' }).click()
    return page
  }

  test('is run by an admin, who says something to everybody, by a notice and by a message to each', async () => {
    const guest = await plaza.guest()
    const page = await operator()
    const dialog = page.getByRole('dialog', { name: 'Installation' })
    await dialog.getByLabel('Notice').fill('Back at nine')
    await dialog.getByRole('button', { name: 'Show it' }).click()
    await page.getByText('Everybody sees it from now on.').waitFor()
    await dialog.getByRole('textbox', { name: 'What is said' }).fill('Dear people')
    const tell = dialog.getByRole('button', { name: /^Tell \d+ people/ })
    await tell.click()
    await tell.click()
    await page.getByText(/^\d+ people have it\.$/).waitFor()
    await guest.reload()
    await guest.getByText('Back at nine').waitFor()
    await guest.getByRole('navigation', { name: 'Your rooms' }).getByRole('link', { name: /Plaza/ }).click()
    await guest.getByText('Dear people').first().waitFor()
    await guest.getByText('Not secret: told to many people at once.').waitFor()
    expect(await guest.getByRole('button', { name: 'Installation' }).count()).toBe(0)
  })
})
