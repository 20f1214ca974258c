import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, confirmAct, desktop, go, isLive, openPlaza, phone, say } from './plaza.ts'

describe('chat folders and pinned chats', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const list = (page: Page) => page.getByRole('navigation', { name: 'Your rooms' })
  const names = (page: Page) => list(page).locator('.rooms__room-name').allInnerTexts()
  const tab = (page: Page, name: string | RegExp) => page.getByRole('tab', { name })
  const choose = async (page: Page, choice: string) => {
    await page.getByRole('button', { name: 'More about this room' }).click()
    await page.getByRole('menuitem', { name: choice, exact: true }).click()
  }
  const toRooms = async (page: Page, device: object) => {
    if (device === phone) await page.getByRole('button', { name: 'Back to the rooms' }).click()
  }
  const toAlpha = async (page: Page) => {
    await go(page, '/rooms/alpha')
    await isLive(page)
  }

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('folders are tabs above the rooms on a %s, also on another device', async (_name, device) => {
    const page = await plaza.guest(device)
    await choose(page, 'Move to folder…')
    const dialog = page.getByRole('dialog', { name: 'Move to folder' })
    await dialog.getByText('A folder is a tab above your rooms').waitFor()
    await dialog.getByLabel('Emoji').fill('ok')
    await dialog.getByLabel('Name').fill('Work')
    await dialog.getByRole('button', { name: 'Create folder' }).click()
    await dialog.getByRole('alert').getByText('One emoji').waitFor()
    await dialog.getByLabel('Emoji').fill('💼')
    await dialog.getByRole('button', { name: 'Create folder' }).click()
    await dialog.getByRole('checkbox', { name: 'Work', checked: true }).waitFor()
    await dialog.getByLabel('Name').fill('A folder whose name is rather long')
    await dialog.getByRole('button', { name: 'Create folder' }).click()
    await dialog.getByRole('alert').getByText('at most 32 characters').waitFor()
    await dialog.getByLabel('Name').fill('A folder with a very long name')
    await dialog.getByRole('button', { name: 'Create folder' }).click()
    await dialog.getByRole('checkbox', { name: 'A folder with', checked: true }).click()
    await dialog.getByRole('checkbox', { name: 'A folder with', checked: false }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('Escape')

    await toRooms(page, device)
    await tab(page, 'All').press('ArrowRight')
    await expect.poll(() => names(page)).toEqual(['Alpha'])
    expect(await tab(page, 'Work').getAttribute('aria-selected')).toBe('true')
    await tab(page, 'Work').press('ArrowRight')
    await page.getByText('This folder is empty').waitFor()
    expect(await axeFaults(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)

    // Who looks at a room has read it.
    const away = device === phone ? '/' : '/agents'
    const other = await page.context().newPage()
    await other.goto(plaza.url + away)
    await go(page, away)
    await tab(other, 'Work').waitFor()
    const writer = await plaza.guest()
    await say(writer, `News ${randomUUID()}`)
    await tab(other, /^Work\s*1\s*unread$/).waitFor()
    await page.getByRole('button', { name: 'Edit folders' }).click()
    const folders = page.getByRole('dialog', { name: 'Folders' })
    await folders.getByRole('button', { name: 'Edit Work' }).click()
    await folders.getByRole('form', { name: 'Edit Work' }).getByLabel('Name').fill('Play')
    await folders.getByRole('button', { name: 'Save' }).click()
    await tab(other, /^Play/).waitFor()
    await folders.getByRole('button', { name: 'Delete Play' }).click()
    await confirmAct(page, 'Delete', 'Play')
    await tab(other, /^Play/).waitFor({ state: 'detached' })
    await folders.getByRole('button', { name: 'Delete A folder' }).click()
    await confirmAct(page, 'Delete', 'A folder')
    await page.keyboard.press('Escape')
    await tab(page, 'All').waitFor({ state: 'detached' })
    expect((await names(page)).length).toBeGreaterThan(1)
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('pinned chats are before all others on a %s, until they are pinned no more', async (_name, device) => {
    const page = await plaza.guest(device)
    await go(page, '/')
    await list(page).getByRole('link', { name: 'Show and tell' }).click()
    await page.getByRole('heading', { level: 1, name: 'Show and tell' }).waitFor()
    await isLive(page)
    await choose(page, 'Pin')
    await page.getByText('Room pinned to the top of your list.').waitFor()
    await toRooms(page, device)
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor()
    expect((await names(page)).slice(0, 2)).toEqual(['Show and tell', 'Alpha'])
    expect(await axeFaults(page)).toEqual([])
    await toAlpha(page)
    await choose(page, 'Pin')
    await toRooms(page, device)
    await expect.poll(async () => (await names(page)).slice(0, 2)).toEqual(['Show and tell', 'Alpha'])
    await list(page).getByRole('link', { name: 'Show and tell' }).click()
    await page.getByRole('heading', { level: 1, name: 'Show and tell' }).waitFor()
    await choose(page, 'Unpin')
    await toRooms(page, device)
    await expect.poll(async () => (await names(page))[0]).toBe('Alpha')
    await page.reload()
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor()
    expect((await names(page))[0]).toBe('Alpha')
  })

  test('a pinned room that was left is in the way of nothing', async () => {
    const page = await plaza.guest()
    await list(page).getByRole('link', { name: 'Show and tell' }).click()
    await page.getByRole('heading', { level: 1, name: 'Show and tell' }).waitFor()
    await isLive(page)
    await choose(page, 'Pin')
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor()
    await choose(page, 'Leave')
    const leaving = page.getByRole('dialog', { name: 'Leave' }).getByRole('button', { name: 'Leave' })
    await leaving.and(page.locator(':enabled')).click()
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' })
    await toAlpha(page)
    await choose(page, 'Pin')
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor()
    await choose(page, 'Move to folder…')
    const dialog = page.getByRole('dialog', { name: 'Move to folder' })
    await dialog.getByLabel('Name').fill('Work')
    await dialog.getByRole('button', { name: 'Create folder' }).click()
    await dialog.getByRole('checkbox', { name: 'Work', checked: true }).waitFor()
    await page.keyboard.press('Escape')
    await choose(page, 'Unpin')
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' })
  })
})
