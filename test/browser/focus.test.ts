import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { becomeModerator, desktop, field, go, isLive, line, openPlaza, phone, say, startPoll } from './plaza.ts'

/** Which element has the focus, and that no key press is lost. */
describe('the focus', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const isInField = (page: Page) => page.locator('#composer:focus').waitFor()
  const rooms = (page: Page) => page.getByRole('navigation', { name: 'Your rooms' })
  const rules = (page: Page) => page.getByRole('region', { name: 'Rules of Alpha' })
  const press = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' }).click()

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('M67: the card with the rules does not take the focus, on a %s', async (_name, device) => {
    const page = await plaza.visit(device)
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    if (device === phone) await go(page, '/rooms/alpha')
    if (device === desktop) await isInField(page)
    else await field(page).focus()
    await page.keyboard.type('Typed while ')
    await rules(page).getByText('Be kind, be curious').waitFor()
    await page.keyboard.type('the rules came')
    expect(await field(page).inputValue()).toBe('Typed while the rules came')
    expect(await rules(page).getByRole('button').count()).toBe(1)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await rules(page).getByRole('button', { name: 'Got it' }).click()
    await rules(page).waitFor({ state: 'detached' })
    if (device === desktop) await isInField(page)
    await page.reload()
    await isLive(page)
    expect(await rules(page).count()).toBe(0)
    expect(await field(page).inputValue()).toBe('Typed while the rules came')
  })

  test('M67: is in the message field after a room is opened', async () => {
    const page = await plaza.guest()
    await isInField(page)
    await field(page).fill('kept in Alpha')
    for (const name of ['No links please', 'Slow lane']) {
      await rooms(page).getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await isInField(page)
    }
    await rooms(page).getByRole('link', { name: 'Alpha' }).press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Alpha' }).waitFor()
    await isInField(page)
    expect(await field(page).inputValue()).toBe('kept in Alpha')
  })

  test('M67: is in the message field after a direct conversation is opened', async () => {
    const [one, other] = [await plaza.guest(), await plaza.guest()]
    const text = `Meet me ${randomUUID()}`
    await say(other, text)
    await line(one, text)
      .getByRole('button', { name: /^Profile of/ })
      .first()
      .click()
    await one.getByRole('dialog').getByRole('button', { name: 'Message' }).click()
    await one.getByPlaceholder('Write a direct message').and(one.locator(':focus')).waitFor()
  })

  test('M67: moves to the search, and is restored after it', async () => {
    const page = await plaza.guest()
    await press(page, 'Search')
    await page.getByRole('searchbox', { name: 'Search for' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await isInField(page)
    await press(page, 'Members')
    await page.getByRole('searchbox', { name: 'Search members' }).and(page.locator(':focus')).waitFor()
    await press(page, 'Close this panel')
    await isInField(page)
  })

  test('M67: returns from a dialog to its former element by keyboard, and to the message field by pointer', async () => {
    const page = await plaza.guest()
    for (const name of [/Settings/, 'New room', 'Browse channels', 'Rules of this room', null]) {
      if (name === null) await startPoll(page)
      else await press(page, name)
      await page.getByRole('dialog').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await isInField(page)
    }
    await page.getByRole('button', { name: 'New room' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'New room' }).and(page.locator(':focus')).waitFor()
  })

  test('M67: moves from a removed element to the message field, and a key pressed without focus is typed there', async () => {
    const page = await plaza.guest()
    const text = `Going away ${randomUUID()}`
    await field(page).fill(text)
    await press(page, 'Send')
    await isInField(page)
    await line(page, text).and(page.locator('.sent')).waitFor()
    await line(page, text).hover()
    await line(page, text).getByRole('button', { name: 'React' }).click()
    await page.getByRole('menuitem').first().click()
    await isInField(page)
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.type('no key lost')
    expect(await field(page).inputValue()).toBe('no key lost')
  })

  test('M67: returns to a field that was disabled for a while', async () => {
    const [moderator, other] = [await plaza.guest(), await plaza.guest()]
    await becomeModerator(moderator)
    await field(other).fill('in the middle of')
    await moderator.getByRole('switch', { name: 'Read-only' }).click()
    await other.getByPlaceholder('Only moderators can write here now').waitFor()
    await moderator.getByRole('switch', { name: 'Read-only' }).click()
    await isInField(other)
    await other.keyboard.type(' it')
    expect(await field(other).inputValue()).toBe('in the middle of it')
  })

  test('M67: typed text survives a reply, an edit, a refusal and a press outside a dialog', async () => {
    const page = await plaza.guest()
    const [first, draft] = [`First ${randomUUID()}`, 'a draft']
    await say(page, first)
    await page.locator('.messages__message.sent', { hasText: first }).waitFor()
    await page.keyboard.press('ArrowUp')
    await page.getByText('Editing').waitFor()
    await page.keyboard.type(' changed')
    await rooms(page).getByRole('link', { name: 'No links please' }).click()
    await page.getByRole('heading', { level: 1, name: 'No links please' }).waitFor()

    await say(page, 'See https://example.org')
    await field(page).fill(draft)
    await page.getByRole('region', { name: 'Message blocked' }).getByRole('button', { name: 'Edit' }).click()
    expect(await field(page).inputValue()).toBe(`See https://example.org\n${draft}`)

    await rooms(page).getByRole('link', { name: 'Alpha' }).click()
    await page.getByRole('heading', { level: 1, name: 'Alpha' }).waitFor()
    await line(page, first).waitFor()
    await field(page).fill('')
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => field(page).inputValue()).toBe(`${first} changed`)
    await page.keyboard.press('Escape')

    await startPoll(page)
    await page.getByRole('dialog').getByLabel('Question').fill('Half a question')
    await page.mouse.click(5, 5)
    expect(await page.getByRole('dialog').getByLabel('Question').inputValue()).toBe('Half a question')
  })
})
