import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, becomeModerator, field, line, openPlaza, pressIn, say } from './plaza.ts'

describe('a ban, and what comes after it', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const rooms = (page: Page) => page.getByRole('navigation', { name: 'Your rooms' })
  const speak = async (page: Page) => {
    const text = `Said ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    return text
  }
  const ban = async (page: Page, said: string, reason: string) => {
    await line(page, said).focus()
    await page.keyboard.press('b')
    await page.getByRole('dialog', { name: 'Ban' }).getByRole('textbox', { name: 'Reason' }).fill(reason)
    await page.getByRole('dialog', { name: 'Ban' }).getByRole('button', { name: '7 days' }).click()
    await pressIn(page, 'Ban')
  }
  const undo = (page: Page) => page.locator('.toasts').getByRole('button', { name: 'Undo' })

  test('N54: the page of a ban says which room, why, until when and what now; the lifted room is back in the list at once', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await becomeModerator(page)
    const said = await speak(other)
    await ban(page, said, 'Selling watches')
    const told = other.getByRole('main')
    await told.getByRole('heading', { name: 'You are banned from Alpha' }).waitFor()
    await told.getByText('Reason: Selling watches').waitFor()
    await told.getByText(/left, until/).waitFor()
    await told.getByText(/Moderators can lift the ban/).waitFor()
    expect(await axeFaults(other)).toEqual([])
    await rooms(other).getByRole('link', { name: 'Alpha' }).waitFor({ state: 'detached' })

    await undo(page).click()
    await told.getByText('Your ban was lifted. You can join again.').waitFor()
    const back = rooms(other).getByRole('button', { name: /^Alpha/ })
    await back.getByText('Your ban has ended').waitFor()
    expect(await axeFaults(other)).toEqual([])
    await back.click()
    await field(other).and(other.locator(':enabled')).waitFor()
    await rooms(other).getByRole('link', { name: 'Alpha' }).waitFor()
    expect(await back.count()).toBe(0)
    await speak(other)
  })

  test('N54: whoever loads the page of a ban anew is told the same, and finds the lifted channel in Browse, on a desktop', async () => {
    const [owner, other] = [await plaza.guest(), await plaza.guest()]
    const name = `Channel ${randomUUID().slice(0, 8)}`
    await owner.getByRole('button', { name: 'New room' }).click()
    await owner.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
    await owner.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await owner.getByRole('heading', { level: 1, name }).waitFor()
    await other.goto(owner.url())
    await other.getByRole('button', { name: 'Join this room' }).click()
    await field(other).and(other.locator(':enabled')).waitFor()
    const said = await speak(other)
    await line(owner, said).waitFor()
    await ban(owner, said, 'Off topic')
    await other.getByText('You are banned from').waitFor()
    await other.reload()
    await other.getByRole('heading', { name: `You are banned from ${name}` }).waitFor()
    await other.getByText('Reason: Off topic').waitFor()
    await other.getByText(/left, until/).waitFor()

    await undo(owner).click()
    await owner
      .locator('.toasts')
      .getByText(/ unbanned/)
      .waitFor()
    await rooms(other).getByRole('button', { name }).waitFor()
    await other.getByRole('button', { name: 'Browse channels' }).click()
    await other.getByRole('button', { name: `Join ${name}` }).click()
    await field(other).and(other.locator(':enabled')).waitFor()
    await rooms(other).getByRole('link', { name }).waitFor()
    expect(await rooms(other).getByRole('button', { name }).count()).toBe(0)
  })
})
