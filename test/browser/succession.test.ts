import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { axeFaults, desktop, field, go, openPlaza, openRoomSettings, phone, pressInHeader } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

async function join(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('button', { name: 'Join this room' }).click()
  await field(page).and(page.locator(':enabled')).waitFor()
}

test.each([
  ['desktop', desktop],
  ['phone', phone],
])('O28: who leaves a room that they alone manage says on a %s who does after them', async (at, device) => {
  const [owner, first, second] = [await plaza.guest(device), await plaza.guest(), await plaza.guest(device)]
  const name = `Channel ${randomUUID().slice(0, 8)}`
  await go(owner, '/')
  await owner.getByRole('button', { name: 'New room' }).click()
  await owner.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
  await owner.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
  await heading(owner, name).waitFor()
  for (const page of [first, second]) await join(page, owner.url())

  await owner.getByRole('button', { name: 'More about this room' }).click()
  await owner.getByRole('menuitem', { name: 'Leave' }).click()
  const dialog = owner.getByRole('dialog', { name: 'Leave' })
  const heir = dialog.getByLabel('Who should manage it after you?')
  await heir.waitFor()
  const offered = await heir.locator('option').allInnerTexts()
  expect(offered).toHaveLength(2)
  expect(await heir.evaluate((select: HTMLSelectElement) => select.selectedIndex)).toBe(0)
  expect(await axeFaults(owner)).toEqual([])
  if (process.env.SHOTS) await owner.screenshot({ path: `${process.env.SHOTS}/leave-${at}.png` })
  await heir.selectOption({ index: 1 })
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await heading(owner, name).waitFor({ state: 'detached' })

  for (const page of [first, second]) await page.getByText(`${offered[1]} manages this room now`).waitFor()
  const settings = await openRoomSettings(second, 'Webhooks')
  await second.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })
  await pressInHeader(second, 'Members')
  await second.getByRole('button', { name: new RegExp(`${offered[1]}.*owner`) }).waitFor()
  await expect.poll(() => second.locator('button.members-panel__member').count()).toBe(2)
  if (process.env.SHOTS) await second.screenshot({ path: `${process.env.SHOTS}/members-${at}.png` })
  expect(await axeFaults(second)).toEqual([])
})
