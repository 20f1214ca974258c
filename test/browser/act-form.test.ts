import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, becomeModerator, desktop, field, line, openPlaza, phone, pressIn, say } from './plaza.ts'

describe('what a moderator does to a person', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const speak = async (page: Page) => {
    const text = `Said ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    return text
  }
  const choose = async (page: Page, text: string, act: string) => {
    await line(page, text).focus()
    await line(page, text).getByRole('button', { name: 'More' }).press('Enter')
    await page.getByRole('menuitem', { name: act }).press('Enter')
    return page.getByRole('dialog', { name: act.split(' ')[0] ?? act })
  }
  const chips = (form: Locator, label: string) =>
    form.getByRole('group', { name: label }).getByRole('button').allInnerTexts()
  const log = (page: Page) => page.getByRole('list', { name: 'Moderation log' })
  const undo = (page: Page) => page.locator('.toasts').getByRole('button', { name: 'Undo' })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('N53: an act from a row asks how long and why, by the form of the person card, on a %s', async (_name, device) => {
    const [page, other] = [await plaza.guest(device), await plaza.guest()]
    await becomeModerator(page)
    const said = await speak(other)
    await line(page, said).locator('.messages__who').dispatchEvent('click')
    const card = page.getByRole('dialog').getByRole('region', { name: 'Moderate in Alpha' })
    await card.waitFor()
    await card.getByRole('heading', { name: 'Moderate in Alpha' }).waitFor()
    // Nobody is unmuted who is not muted.
    expect(await card.getByRole('button', { name: 'Unmute' }).count()).toBe(0)
    const [lengths, whys] = [await chips(card, 'Duration'), await chips(card, 'Why')]
    expect(lengths).toEqual(['10 min', '1 h', '24 h', '7 days', 'Permanently'])
    expect(whys).toContain('spam')
    expect(await card.getByRole('textbox', { name: 'Reason' }).count()).toBe(1)
    await page.keyboard.press('Escape')

    for (const act of ['Warn', 'Kick', 'Purge messages', 'Mute 24 h', 'Ban']) {
      const form = await choose(page, said, act)
      await form.waitFor()
      expect(await chips(form, 'Why')).toEqual(whys)
      expect(await form.getByRole('textbox', { name: 'Reason' }).count()).toBe(1)
      const hasLength = act.startsWith('Mute') || act === 'Ban'
      if (hasLength) expect(await chips(form, 'Duration')).toEqual(lengths)
      else expect(await form.getByRole('group', { name: 'Duration' }).count()).toBe(0)
      await page.keyboard.press('Escape')
      await form.waitFor({ state: 'detached' })
    }

    const form = await choose(page, said, 'Mute 24 h')
    expect(await form.getByRole('button', { name: '24 h', pressed: true }).count()).toBe(1)
    expect(await axeFaults(page)).toEqual([])
    await form.getByRole('button', { name: '7 days' }).click()
    await form.getByRole('button', { name: 'spam' }).click()
    expect(await form.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('spam')
    await form.getByRole('textbox', { name: 'Reason' }).fill('spam, for the third time')
    await pressIn(page, 'Mute')
    await other.getByText('You are muted in this room').waitFor()
    expect(await other.getByRole('timer').filter({ hasText: 'left' }).innerText()).toMatch(/^(7 d|6 d)/)
    await line(page, said).locator('.messages__who').dispatchEvent('click')
    await card.getByRole('button', { name: 'Unmute' }).waitFor()
    await page.keyboard.press('Escape')
    await log(page).getByText('spam, for the third time').first().waitFor()
  })

  test('N53: a mute and a ban from a row are undone by the toast, which stays for 5 s', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await becomeModerator(page)
    const said = await speak(other)
    await choose(page, said, 'Mute 1 h')
    await pressIn(page, 'Mute')
    await other.getByText('You are muted in this room').waitFor()
    await undo(page).click()
    await expect.poll(() => field(other).isEnabled()).toBe(true)
    await page
      .locator('.toasts')
      .getByText(/unmuted/)
      .waitFor()
    expect(await undo(page).count()).toBe(0)

    await choose(page, said, 'Ban')
    await pressIn(page, 'Ban')
    await other.getByText('You are banned').waitFor()
    await undo(page).click()
    await page
      .locator('.toasts')
      .getByText(/ unbanned/)
      .waitFor()
    await log(page).getByText('unbanned').first().waitFor()

    await choose(page, said, 'Warn')
    await pressIn(page, 'Warn')
    await page
      .locator('.toasts')
      .getByText(/warned/)
      .waitFor()
    expect(await undo(page).count()).toBe(0)
    await line(page, said).focus()
    await page.keyboard.press('p')
    await undo(page).click()
    await page
      .locator('.toasts')
      .getByText(/^Unpinned/)
      .waitFor()
  })
})
