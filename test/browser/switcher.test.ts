import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { madeUpName } from '#shared/kit/person-name'
import type { RoomRef } from '#shared/kit/primitives'
import { personAt, say as says } from '#test/support/people'
import { axeFaults, desktop, field, go, isLive, openPlaza, phone } from './plaza.ts'

const narrow = { ...phone, viewport: { width: 320, height: 640 } }

const switcher = (page: Page) => page.getByRole('dialog', { name: 'Go to' })
const search = (page: Page) => switcher(page).getByRole('combobox')
const options = (page: Page) => switcher(page).getByRole('option')
const chosen = (page: Page) => options(page).and(page.locator('[aria-selected=true]'))
const status = (page: Page) => switcher(page).locator('p[role=status]')
const opener = (page: Page) => page.getByRole('button', { name: 'Search or go to' })
const rooms = (page: Page) => page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link')
const row = (page: Page, name: string) => rooms(page).filter({ hasText: name })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
const isInField = (page: Page) => page.locator('#composer:focus').waitFor()
const open = async (page: Page) => {
  await page.keyboard.press('Control+k')
  await search(page).and(page.locator(':focus')).waitFor()
}
/** The first option, once it is the one that is meant. */
const first = (page: Page, text: string | RegExp) => options(page).first().filter({ hasText: text }).waitFor()

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

/** Somebody writes so many messages in a room. */
async function written(page: Page, name: string, count: number): Promise<void> {
  const key = decodeURIComponent((await row(page, name).getAttribute('href')) ?? '').slice('/rooms/'.length)
  const room = { type: 'channel', id: key.split(':')[1] ?? '' } as RoomRef
  for (let one = 0; one < count; one += 10) {
    const writer = await personAt(plaza.url, randomUUID().slice(0, 8))
    for (let at = one + 1; at <= Math.min(one + 10, count); at += 1)
      await says(writer, room, `Number ${at}.\n\nA second line\n\nA third line`)
  }
}

describe('the switcher', () => {
  test('opens rooms, pages and settings by the keyboard alone, and Escape returns to the field', async () => {
    const page = await plaza.guest()
    await field(page).fill('A draft')
    await open(page)
    await page.keyboard.press('Escape')
    await switcher(page).waitFor({ state: 'detached' })
    await isInField(page)
    expect(await field(page).inputValue()).toBe('A draft')

    await open(page)
    await page.keyboard.type('slow')
    await first(page, 'Slow lane')
    await expect.poll(() => status(page).innerText()).toMatch(/^\d+ results?$/)
    expect(await search(page).getAttribute('aria-expanded')).toBe('true')
    expect(await search(page).getAttribute('aria-activedescendant')).toBe(await chosen(page).getAttribute('id'))
    await page.keyboard.press('Enter')
    await heading(page, 'Slow lane')
    await isInField(page)

    await open(page)
    await page.keyboard.type('set')
    await options(page).filter({ hasText: 'Notifications' }).waitFor()
    const before = await chosen(page).getAttribute('id')
    await page.keyboard.press('ArrowDown')
    expect(await chosen(page).getAttribute('id')).not.toBe(before)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect(await chosen(page).getAttribute('id')).toBe(await options(page).last().getAttribute('id'))
    expect(await search(page).getAttribute('aria-activedescendant')).toBe(await chosen(page).getAttribute('id'))
    await search(page).fill('notif')
    await first(page, 'Notifications')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Settings' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${plaza.url}/settings/notifications`)

    // Above a dialog with an address, it leads on from there.
    await open(page)
    await page.keyboard.type('calls')
    await first(page, 'Calls')
    await page.keyboard.press('Enter')
    await heading(page, 'Calls')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.goBack()
    await heading(page, 'Slow lane')
  })

  test('shows unread rooms, rooms of before and actions at first, and a press of its keys closes it', async () => {
    const page = await plaza.guest()
    for (const name of ['Slow lane', 'No links please']) {
      await row(page, name).click()
      await heading(page, name)
      await isLive(page)
    }
    await written(page, 'Show and tell', 2)
    await row(page, 'Show and tell').locator('.rooms__badge').waitFor()
    await open(page)
    const group = (name: string) => switcher(page).getByRole('group', { name, exact: true })
    await group('Unread').getByRole('option', { name: 'Show and tell' }).locator('.rooms__badge').waitFor()
    expect(await group('Recent').locator('.rooms__room-name').allInnerTexts()).not.toContain('No links please')
    expect((await group('Recent').locator('.rooms__room-name').allInnerTexts()).slice(0, 2)).toEqual([
      'Slow lane',
      'Alpha',
    ])
    expect(await group('Actions').getByRole('option').count()).toBe(3)
    await page.keyboard.press('Control+k')
    await switcher(page).waitFor({ state: 'detached' })
    await open(page)
    await page.mouse.click(5, 5)
    await switcher(page).waitFor({ state: 'detached' })
    await opener(page).click()
    await group('Recent').getByRole('option', { name: 'Slow lane' }).click()
    await heading(page, 'Slow lane')
  })

  test('finds a person of the server by a part of their name, and opens their card', async () => {
    const word = `Wanda${randomUUID().slice(0, 6)}`
    const wanda = await personAt(plaza.url, word)
    await wanda.does('rest', accounts.updateProfile, { display_name: word })
    const page = await plaza.guest()
    await opener(page).click()
    await first(page, '')
    await options(page).filter({ hasText: 'New message' }).click()
    expect(await search(page).inputValue()).toBe('@')
    await search(page).and(page.locator(':focus')).waitFor()
    await page.keyboard.type(word.toLowerCase())
    await first(page, word)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: word }).getByRole('button', { name: 'Message' }).click()
    await page.getByText('End-to-end encrypted').waitFor()
    await open(page)
    await page.keyboard.type(`@${word.toLowerCase()}`)
    await first(page, /Direct message/)
    expect(await options(page).count()).toBe(1)
  })

  test('finds people without a name by the one that is made for them', async () => {
    const nameless = await personAt(plaza.url, randomUUID())
    const name = madeUpName(nameless.account)
    const page = await plaza.guest()
    await open(page)
    await page.keyboard.type(name.split(' ').slice(1).join(' ').toLowerCase())
    await first(page, name)
  })

  test.each([
    ['theme', 'Appearance'],
    ['dark', 'Appearance'],
    ['language', 'Appearance'],
    ['sessions', 'Devices'],
    ['export', 'Your data'],
    ['delete', 'Your data'],
    ['passkey', 'Sign-in & security'],
    ['notifications sound', 'Notifications'],
  ])('finds settings by the words of people: %s', async (word, section) => {
    const page = await plaza.guest()
    await open(page)
    await page.keyboard.type(word)
    await options(page).filter({ hasText: section }).filter({ hasText: 'Settings' }).waitFor()
  })

  test('says in a sentence that nothing is found, that it searches, and that one is offline', async () => {
    const page = await plaza.guest()
    await page.route('**/members?*', async (route) => {
      if (!route.request().url().includes('search=zzzz')) return route.continue()
      await expect.poll(() => status(page).innerText()).toBe('Searching people…')
      return route.continue()
    })
    await open(page)
    await page.keyboard.type('zzzz')
    await expect.poll(() => status(page).innerText()).toBe('Nothing matches “zzzz”.')
    expect(await search(page).getAttribute('aria-expanded')).toBe('false')
    await page.keyboard.press('Enter')
    await switcher(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary', { name: 'Demo' }).getByRole('button', { name: 'Drop my connection' }).click()
    await open(page)
    await page.keyboard.type('slow')
    await first(page, 'Slow lane')
    await expect.poll(() => status(page).innerText()).toMatch(/^You are offline/)
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
    ['narrow phone', narrow],
  ])('is opened by its button and used by touch, with nothing for axe to find, on a %s', async (_name, device) => {
    const page = await plaza.guest(device)
    if (device !== desktop) await go(page, '/')
    const press = (one: ReturnType<typeof opener>) => (device === desktop ? one.click() : one.tap())
    await page.emulateMedia({ colorScheme: device === desktop ? 'light' : 'dark', reducedMotion: 'reduce' })
    await press(opener(page))
    await search(page).and(page.locator(':focus')).waitFor()
    await first(page, '')
    const isTooWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    expect([await axeFaults(page), await isTooWide()]).toEqual([[], false])
    await search(page).fill('a')
    await first(page, 'Alpha')
    expect([await axeFaults(page), await isTooWide()]).toEqual([[], false])
    await search(page).fill('zzzz')
    await expect.poll(() => status(page).innerText()).toMatch(/^Nothing matches/)
    expect([await axeFaults(page), await isTooWide()]).toEqual([[], false])
    await search(page).fill('links')
    await press(options(page).filter({ hasText: 'No links please' }))
    await heading(page, 'No links please')
    await isLive(page)
    if (device !== desktop) return
    await page.keyboard.press('Control+/')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
  })
})

describe('the keys', () => {
  const list = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  const panel = (page: Page) => page.getByRole('complementary', { name: 'Members' })

  test('are listed by "?" outside of fields, and by Control and "/" in them too', async () => {
    const page = await plaza.guest()
    await field(page).press('?')
    expect(await field(page).inputValue()).toBe('?')
    expect(await list(page).count()).toBe(0)
    await field(page).press('Control+/')
    for (const text of ['Next unread room', 'Search or go to', 'Ban sender']) await list(page).getByText(text).waitFor()
    expect(await list(page).locator('kbd', { hasText: 'Esc' }).count()).toBe(1)
    // An open dialog keeps its keys.
    await page.keyboard.press('Alt+ArrowDown')
    expect(page.url()).toBe(`${plaza.url}/rooms/alpha`)
    await page.keyboard.press('Escape')
    await list(page).waitFor({ state: 'detached' })
    await isInField(page)
    await rooms(page).first().focus()
    await page.keyboard.press('?')
    await list(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More about this room' }).click()
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
    await list(page).waitFor()
  })

  test('with Alt go through the rooms in the order of the list, and with Shift through unread ones', async () => {
    const page = await plaza.guest()
    const names = await rooms(page).locator('.rooms__room-name').allInnerTexts()
    expect(names[0]).toBe('Alpha')
    await field(page).fill('A draft')
    await page.keyboard.press('Alt+ArrowDown')
    await heading(page, names[1] ?? '')
    await isInField(page)
    await page.keyboard.press('Alt+ArrowUp')
    await heading(page, 'Alpha')
    await page.keyboard.press('Alt+ArrowUp')
    await heading(page, names.at(-1) ?? '')
    await page.keyboard.press('Alt+ArrowDown')
    await heading(page, 'Alpha')
    expect(await field(page).inputValue()).toBe('A draft')

    await written(page, 'Show and tell', 1)
    await row(page, 'Show and tell').locator('.rooms__badge').waitFor()
    await page.keyboard.press('Alt+Shift+ArrowDown')
    await heading(page, 'Show and tell')
    await isLive(page)
    await row(page, 'Show and tell').locator('.rooms__badge').waitFor({ state: 'detached' })
    await page.keyboard.press('Alt+Shift+ArrowUp')
    await page.keyboard.press('Alt+Shift+ArrowDown')
    await heading(page, 'Show and tell')
  })

  test('Escape ends a reply, then closes the panel, then marks the room as read', async () => {
    const page = await plaza.guest()
    await written(page, 'Show and tell', 40)
    await row(page, 'Show and tell').click()
    await heading(page, 'Show and tell')
    await isLive(page)
    const bar = page.getByRole('region', { name: 'Unread messages' })
    await bar.waitFor()
    await page.getByRole('button', { name: 'Members' }).click()
    await panel(page).waitFor()
    await page.locator('.messages__message').last().hover()
    await page.getByRole('toolbar', { name: 'Message' }).getByRole('button', { name: 'Reply' }).click()
    const reply = page.locator('.composer-aim')
    await reply.waitFor()
    await isInField(page)
    await page.keyboard.press('Escape')
    await reply.waitFor({ state: 'detached' })
    expect([await panel(page).count(), await bar.count()]).toEqual([1, 1])
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'detached' })
    expect(await bar.count()).toBe(1)
    await page.keyboard.press('Escape')
    await bar.waitFor({ state: 'detached' })
  })
})
