import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { friends } from '#shared/api/people/friends'
import { widgetTypes } from '#shared/api/people/profile-widgets'
import { profiles } from '#shared/api/people/profiles'
import { axeFaults, desktop, go, line, openPlaza, phone, say } from './plaza.ts'

/** What people show of themselves, made on one screen and seen on another. */
describe('profiles', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  /** A guest, and their account. */
  const guest = async (device: Parameters<typeof plaza.guest>[0]) => {
    const page = await plaza.guest(device)
    const account = await Accounts.findOne({ wallet_type: 'eoa' }).sort({ created_at: -1 }).lean()
    if (!account) throw new Error('Nobody has signed in')
    return { page, account: account._id }
  }
  const own = async (page: Page) => {
    await go(page, '/profile')
    await page.getByRole('main', { name: 'Your profile' }).waitFor()
  }
  const dialog = (page: Page) => page.getByRole('dialog')
  const saved = (page: Page) => dialog(page).waitFor({ state: 'detached' })
  const begin = async (page: Page, type: string) => {
    await page.getByRole('button', { name: 'Add a widget' }).first().click()
    await dialog(page).getByRole('searchbox', { name: 'Find a widget' }).fill(type)
    await dialog(page).getByRole('button', { name: type }).first().click()
  }
  const add = async (page: Page, type: string, fields: Readonly<Record<string, string>>) => {
    await begin(page, type)
    for (const [field, value] of Object.entries(fields))
      await dialog(page).getByLabel(field, { exact: true }).fill(value)
    await dialog(page).getByRole('button', { name: 'Add it' }).click()
    await saved(page)
  }
  const tiles = (page: Page) => page.getByRole('list', { name: 'Your widgets' }).locator(':scope > li')
  const open = async (page: Page, text: string) => {
    await line(page, text).locator('button').first().click()
    await dialog(page).waitFor()
  }

  test('one is built and dressed on a desktop, and seen from the card on a phone', async () => {
    const { page } = await guest(desktop)
    const said = randomUUID()
    await say(page, said)
    await line(page, said).and(page.locator('.sent')).waitFor()
    await own(page)
    await page.getByText('Say something about yourself').waitFor()
    expect(await axeFaults(page)).toEqual([])

    await add(page, 'Text', { Text: 'Sails at night' })
    await add(page, 'Link', { Address: 'https://harbour.test/berths', Title: 'The harbour' })
    await begin(page, 'Link')
    await dialog(page).getByLabel('Address', { exact: true }).fill('javascript:alert(1)')
    await dialog(page).getByRole('button', { name: 'Add it' }).click()
    await dialog(page).getByText('This is not a web address').waitFor()
    expect(await dialog(page).getByLabel('Address', { exact: true }).getAttribute('aria-invalid')).toBe('true')
    expect(await axeFaults(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await begin(page, 'Goals')
    await dialog(page).getByRole('button', { name: 'Add it' }).click()
    await dialog(page).getByRole('alert').getByText('nothing to see').waitFor()
    for (const goal of ['Cross the bay', 'Learn to splice']) {
      await dialog(page)
        .getByRole('button', { name: /^Add (one|another)$/ })
        .click()
      await dialog(page).getByLabel('Text', { exact: true }).last().fill(goal)
    }
    await dialog(page).getByLabel('Reached').first().check()
    await dialog(page).getByRole('button', { name: 'Add it' }).click()
    await saved(page)
    await add(page, 'Picture', { Picture: 'https://pictures.test/boat.png', Caption: 'A boat' })
    await expect.poll(() => tiles(page).count()).toBe(4)

    // By the keyboard, and by the mouse.
    const handle = page.getByRole('button', { name: 'Move: Goals' })
    await handle.focus()
    await handle.press('ArrowUp')
    await page.getByText('Now 2 of 4.').waitFor()
    expect(await handle.evaluate((element) => element === document.activeElement)).toBe(true)
    const picture = await page.getByRole('button', { name: 'Move: Picture' }).boundingBox()
    const first = await tiles(page).first().boundingBox()
    if (!picture || !first) throw new Error('Nothing is drawn')
    await page.mouse.move(picture.x + 8, picture.y + 8)
    await page.mouse.down()
    await page.mouse.move(first.x + 60, first.y + 60, { steps: 8 })
    await page.mouse.up()
    await page.getByText('Now 1 of 4.').waitFor()
    await page.getByRole('button', { name: 'More about: Link' }).click()
    await page.getByRole('menuitem', { name: 'Hide' }).click()
    await tiles(page).getByText('hidden').waitFor()

    await page.getByRole('button', { name: 'Look' }).click()
    await page.getByRole('button', { name: 'Ocean' }).click()
    await page.getByLabel('Text', { exact: true }).fill('#0f2744')
    await page.getByText('could not be read on these cards').waitFor()
    await page.getByLabel('Accent', { exact: true }).fill('blueish')
    await page.getByRole('button', { name: 'Save the look' }).click()
    await page.getByText('Not a colour').waitFor()
    await page.getByLabel('Accent', { exact: true }).fill('#22d3ee')
    await page.getByLabel('Effect').selectOption('snow')
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Save the look' }).click()
    await page.getByRole('form', { name: 'Look' }).waitFor({ state: 'detached' })

    const { page: other } = await guest({ ...phone, reducedMotion: 'reduce' })
    await open(other, said)
    await dialog(other).getByRole('link', { name: 'Profile' }).click()
    const profile = other.getByRole('main', { name: 'Profile' })
    await profile.getByText('Sails at night').waitFor()
    const seen = await profile.locator('.profiles__profile-widget').allInnerTexts()
    expect(seen.map((text) => text.split('\n')[0])).toEqual(
      ['A boat', 'Sails at night', 'Goals'].map((first) => expect.stringContaining(first)),
    )
    await profile.getByText('1 of 2 done').waitFor()
    const link = profile.getByRole('link', { name: 'A boat' })
    expect(await link.getAttribute('href')).toBe('https://pictures.test/boat.png')
    expect(await profile.locator('img').count()).toBe(0)
    const moving = await other.evaluate(
      () => document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().iterations === Infinity).length,
    )
    expect(moving).toBe(0)
    expect(await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    expect(await axeFaults(other)).toEqual([])
  })

  test('a full profile says so, and so does an address of nobody', async () => {
    const { page, account } = await guest(phone)
    await plaza.node.callAs(account, profiles.arrange, {
      widgets: [...widgetTypes, ...Array.from({ length: 50 - widgetTypes.length }, () => 'text' as const)].map(
        (widget_type) => ({ widget_type, size: undefined, config: {} }),
      ),
    })
    await own(page)
    await expect.poll(() => tiles(page).count()).toBe(50)
    await page.getByText('at most 50 widgets').waitFor()
    for (const type of ['Poll', 'Availability', 'Snapshots']) {
      await page.getByRole('button', { name: `Edit: ${type}` }).click()
      await dialog(page).getByRole('button', { name: 'Save' }).waitFor()
      expect(await dialog(page).locator('.field, .form-items').count()).toBeGreaterThan(0)
      await page.keyboard.press('Escape')
    }
    await page.getByRole('button', { name: 'More about: Text' }).first().click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await dialog(page).getByRole('button', { name: 'Remove' }).click()
    await expect.poll(() => tiles(page).count()).toBe(49)
    await go(page, `/profile/0x${'0'.repeat(40)}`)
    await page.getByText('Nobody has this address').waitFor()
    expect(await axeFaults(page)).toEqual([])
  })

  test('a tag is put on a friend from their card', async () => {
    const { page, account } = await guest(desktop)
    const { page: theirs, account: other } = await guest(phone)
    const { request } = await plaza.node.callAs(account, friends.request, { toAddress: other })
    await plaza.node.callAs(other, friends.accept, { requestId: request.id })
    const said = randomUUID()
    await say(theirs, said)
    await open(page, said)
    await dialog(page).getByRole('button', { name: 'Add a tag' }).click()
    const form = dialog(page).getByRole('form', { name: 'Tag' })
    await form.getByLabel('Tag', { exact: true }).fill('x'.repeat(31))
    await form.getByRole('button', { name: 'Save tag' }).click()
    await form.getByRole('alert').waitFor()
    await form.getByLabel('Tag', { exact: true }).fill('Climbing')
    await form.getByLabel('Emoji').fill('🧗')
    await form.getByRole('radio', { name: 'Green' }).check({ force: true })
    expect(await axeFaults(page)).toEqual([])
    await form.getByRole('button', { name: 'Save tag' }).click()
    await dialog(page).locator('.friend-tag__friend-tag', { hasText: 'Climbing' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await open(page, said)
    await dialog(page).locator('.friend-tag__friend-tag', { hasText: '🧗' }).waitFor()
    await dialog(page).getByRole('button', { name: 'Change tag' }).click()
    await dialog(page).getByRole('button', { name: 'Remove tag' }).click()
    await dialog(page).getByRole('button', { name: 'Add a tag' }).waitFor()
  })
})
