import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { addWallet, desktop, enterByWallet, openPlaza, phone, walletInBrowser } from './plaza.ts'

describe('the cluster', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>

  beforeAll(async () => {
    plaza = await openPlaza({ environment: { ADMINS: walletInBrowser.address } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const figures = (page: Page) => page.getByRole('tabpanel', { name: 'Cluster' })
  const operator = async (device = desktop) => {
    const page = await plaza.visit(device, addWallet)
    await enterByWallet(page)
    await page.getByRole('button', { name: 'Administration' }).click()
    await page.getByRole('tab', { name: 'Cluster' }).click()
    return page
  }

  test('shows an admin every node, and which services are down', async () => {
    const page = await operator()
    await figures(page)
      .getByText(/^1 node with \d+ connections?/)
      .waitFor()
    const row = figures(page).locator('tbody tr')
    expect(await row.getByRole('cell').count()).toBe(5)
    expect(await row.locator('[data-title=Memory]').innerText()).toMatch(/^[1-9]\d+ MB$/)

    const { metrics } = plaza.node
    metrics.degraded('redis', true)
    await row.getByText('down: redis').waitFor()
    metrics.degraded('redis', false)
    await row.getByText('down: redis').waitFor({ state: 'detached' })
  })

  test('shows an error when no node answers, and retries', async () => {
    const page = await operator()
    await figures(page)
      .getByText(/^1 node with/)
      .waitFor()
    await page.route('**/api/admin/cluster', (route) => route.abort())
    await figures(page).getByRole('alert').getByText('The server cannot be reached at the moment.').waitFor()
    await page.unroute('**/api/admin/cluster')
    await figures(page).getByRole('button', { name: 'Try again' }).click()
    await figures(page).getByRole('alert').waitFor({ state: 'detached' })
  })

  test('fits a phone', async () => {
    const page = await operator(phone)
    await figures(page)
      .getByText(/^1 node with/)
      .waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  })

  test('is offered to admins only', async () => {
    const page = await plaza.guest()
    expect(await page.getByRole('button', { name: 'Settings' }).count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Administration' }).count()).toBe(0)
  })
})
