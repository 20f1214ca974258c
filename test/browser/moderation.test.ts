import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  becomeModerator,
  confirmAct,
  deskOf,
  desktop,
  field,
  go,
  line,
  openPlaza,
  phone,
  pressIn,
  say,
  trouble,
} from './plaza.ts'

/** Moderation in the page beyond a ban: people are shown by name, and acts can be undone. */
describe('moderation in the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const ids = /0x[0-9a-f]{3}|email:|passkey:/
  const toast = (page: Page, text: string | RegExp) => page.locator('.toasts').getByText(text)
  const tab = (page: Page, name: string | RegExp) => page.getByRole('tab', { name }).click()
  const rooms = (page: Page) => page.getByRole('navigation', { name: 'Your rooms' })
  const restricted = (page: Page) => page.getByRole('list', { name: 'Banned and muted members' })

  /** Sends a unique text, waits until it is accepted, and returns it. */
  const speak = async (page: Page) => {
    const text = `Said ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    return text
  }
  const nameOf = (page: Page) => page.locator('.sidebar__me strong').innerText()
  const moderator = async () => {
    const page = await plaza.guest()
    await becomeModerator(page)
    return page
  }
  /** A visitor whose account has no name. */
  const nameless = async () => {
    const page = await plaza.visit(desktop, async (fresh) => {
      await fresh.route('**/api/user/profile', (route) => route.abort())
    })
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await field(page).waitFor()
    return page
  }
  const create = async (page: Page, kind: 'Channel' | 'Group', about = '') => {
    const name = `${kind} ${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'New room' }).click()
    const dialog = page.getByRole('dialog', { name: 'New room' })
    await dialog.getByText(kind, { exact: true }).click()
    await dialog.getByLabel('Name', { exact: true }).fill(name)
    await dialog.getByRole('textbox').last().fill(about)
    await dialog.getByRole('button', { name: `Create ${kind.toLowerCase()}` }).click()
    return name
  }

  test('M64: who is banned or muted is listed by name, and lifted there, on a desktop', async () => {
    const [page, other, loud] = [await moderator(), await plaza.guest(), await nameless()]
    const [said, loudly] = [await speak(other), await speak(loud)]
    const names = [await nameOf(other), await nameOf(loud)]
    await go(page, '/rooms/alpha')
    await line(page, said).focus()
    await page.keyboard.press('b')
    await pressIn(page, 'Ban')
    await other.getByText('You are banned').waitFor()
    await line(page, loudly).focus()
    await page.keyboard.press('1')
    await pressIn(page, 'Mute')
    await loud.getByText('You are muted in this room').waitFor()

    await go(page, '/rooms/alpha/moderation')
    await tab(page, 'Banned')
    for (const name of names) await restricted(page).getByText(name, { exact: true }).waitFor()
    expect(await deskOf(page).innerText()).not.toMatch(ids)
    for (const name of names)
      expect(await restricted(page).getByText(name, { exact: true }).getAttribute('title')).toMatch(/^0x[0-9a-f]{40}$/)
    await restricted(page).getByRole('button', { name: 'Unmute' }).click()
    await expect.poll(() => field(loud).isEnabled()).toBe(true)
    await restricted(page).getByRole('button', { name: 'Unban' }).click()
    await page.getByText('No one is banned or muted').waitFor()
    await other.reload()
    await other.getByRole('button', { name: 'Join this room' }).or(field(other)).click()
    await expect.poll(() => field(other).isEnabled()).toBe(true)
  })

  test('M64: the card of a banned person offers to lift the ban, and no second ban', async () => {
    const [page, other] = [await moderator(), await plaza.guest()]
    const said = await speak(other)
    const card = page.getByRole('dialog', { name: await nameOf(other) })
    const who = line(page, said).locator('.messages__who')
    await who.dispatchEvent('click')
    await card.getByRole('button', { name: 'Ban', exact: true }).click()
    await confirmAct(page, 'Ban')
    await other.getByText('You are banned').waitFor()
    await card.waitFor({ state: 'detached' })
    await who.dispatchEvent('click')
    await card.getByRole('button', { name: 'Unban' }).click()
    await card.waitFor({ state: 'detached' })
    await who.dispatchEvent('click')
    await card.getByRole('button', { name: 'Ban', exact: true }).waitFor()
    expect(await card.getByRole('button', { name: 'Unban' }).count()).toBe(0)
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('what is told covers nothing of the head of the room, on a %s', async (_name, device) => {
    const page = await plaza.guest(device)
    await becomeModerator(page)
    const told = await page.getByText('You are the moderator now.').boundingBox()
    const head = await page.locator('.room-head').boundingBox()
    expect(told?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? Number.POSITIVE_INFINITY))
  })

  test('M64: bans are lifted one after the other with the keyboard alone', async () => {
    const page = await moderator()
    const names: string[] = []
    for (const other of [await nameless(), await nameless()]) {
      const said = await speak(other)
      names.push(await nameOf(other))
      await line(page, said).focus()
      await page.keyboard.press('b')
      await page.getByRole('dialog', { name: 'Ban' }).getByRole('button', { name: 'Ban', exact: true }).waitFor()
      await page.keyboard.press('Shift+Tab')
      await page.getByRole('dialog').getByRole('button', { name: 'Ban', exact: true }).press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await other.getByText('You are banned').waitFor()
    }
    await page.getByRole('tab', { name: 'Log' }).focus()
    for (let step = 0; step < 2; step += 1) await page.keyboard.press('ArrowRight')
    await expect.poll(() => restricted(page).getByRole('button').count()).toBe(names.length)
    await page.keyboard.press('Tab')
    for (const _name of names) {
      const before = await restricted(page).getByRole('button').count()
      await restricted(page).getByRole('button', { name: 'Unban' }).and(page.locator(':focus')).waitFor()
      await page.keyboard.press('Enter')
      await expect.poll(() => restricted(page).getByRole('button').count()).toBe(before - 1)
    }
    await page.getByText('No one is banned or muted').waitFor()
    await page.locator('aside :focus').waitFor()
  })

  test('M64: a deletion from the menu is undone with the keyboard alone', async () => {
    const page = await plaza.guest()
    const said = await speak(page)
    await line(page, said).focus()
    await line(page, said).getByRole('button', { name: 'More' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
    await page.locator('.messages__message:focus', { hasText: 'Message deleted' }).waitFor()
    await page.keyboard.press('Tab')
    await page.locator('.messages__message').getByRole('button', { name: 'Undo' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await line(page, said).and(page.locator(':focus')).waitFor()
  })

  test('M64: people are added to a group by name, when it is created and later, and its mutes are lifted from the list', async () => {
    const [owner, first, second] = [await plaza.guest(), await plaza.guest(), await nameless()]
    const name = await create(owner, 'Group', await nameOf(first))
    await owner.getByRole('heading', { level: 1, name }).waitFor()
    const joins = (page: Page) => page.getByRole('button', { name: `Join ${name}` }).click()
    await joins(first)
    await rooms(first).getByRole('link', { name }).waitFor()

    await owner.getByRole('button', { name: 'Members' }).click()
    await owner.getByRole('button', { name: 'Invite people' }).last().click()
    const people = owner.getByRole('textbox', { name: 'People to add' })
    await people.fill('Nobody At All')
    await people.press('Enter')
    await owner.getByRole('alert').getByText('No one is called Nobody At All.').waitFor()
    await people.fill(await nameOf(second))
    await people.press('Enter')
    await toast(owner, /1 person invited/).waitFor()
    await joins(second)
    await owner.keyboard.press('Escape')
    await owner.locator('.members-panel__member', { hasText: await nameOf(second) }).waitFor()
    await expect.poll(() => second.locator('h1').first().innerText()).toBe(name)
    expect(await second.getByRole('textbox', { name: 'People to add' }).count()).toBe(0)

    const said = await speak(second)
    await line(owner, said).focus()
    await owner.keyboard.press('1')
    await pressIn(owner, 'Mute')
    await second.getByText('You are muted in this room').waitFor()
    await owner.getByRole('button', { name: 'Moderation' }).click()
    await tab(owner, 'Banned')
    await restricted(owner)
      .getByText(await nameOf(second), { exact: true })
      .waitFor()
    await restricted(owner).getByRole('button', { name: 'Unmute' }).click()
    await expect.poll(() => field(second).isEnabled()).toBe(true)
  })

  test('M64: "Be the moderator" in somebody else\'s room explains that it gives no rights there', async () => {
    const [owner, stranger] = [await plaza.guest(), await plaza.guest()]
    const name = await create(owner, 'Channel')
    await expect.poll(() => owner.locator('h1').first().innerText()).toBe(name)
    await stranger.goto(owner.url())
    await stranger.getByRole('button', { name: 'Join this room' }).or(field(stranger)).click()
    await stranger.getByRole('button', { name: 'Be the moderator' }).click()
    await toast(stranger, /but not this one/).waitFor()
    expect(await toast(stranger, 'You are the moderator now.').count()).toBe(0)
    expect(await stranger.getByRole('complementary', { name: 'Moderation' }).count()).toBe(0)
  })

  test('M64: queue and log show people by name, with the id on hover', async () => {
    const [page, other, reporter] = [await moderator(), await nameless(), await plaza.guest()]
    const said = await speak(other)
    const name = await nameOf(other)
    await line(reporter, said).locator('.messages__who').click()
    await reporter.getByRole('button', { name: 'Report' }).click()
    await reporter.getByRole('button', { name: 'Send report' }).click()
    await line(page, said).focus()
    await page.keyboard.press('w')
    await pressIn(page, 'Warn')

    const panel = deskOf(page)
    const shown = panel.getByText(name, { exact: true }).first()
    for (const place of [/^Log/, /Queue/]) {
      await tab(page, place)
      await shown.waitFor()
      expect(await shown.getAttribute('title')).toMatch(/^0x[0-9a-f]{40}$/)
      expect(await panel.innerText()).not.toMatch(ids)
    }
    await tab(page, /^Log/)
    await page.getByRole('textbox', { name: 'Member' }).fill(name)
    await panel.getByRole('list', { name: 'Moderation log' }).getByText('warned').first().waitFor()
    expect(await panel.innerText()).not.toMatch(ids)
    await tab(page, /Queue/)
    await panel.getByRole('button', { name: 'Dismiss' }).first().click()
  })

  test('M64: a deletion hides the message, can be undone by toast, by keyboard and in the log, and is sent after 5 s', async () => {
    const [page, other] = [await moderator(), await plaza.guest()]
    const said = await speak(other)
    const shown = line(page, said)
    const remove = async () => {
      await shown.focus()
      await page.keyboard.press('d')
      await shown.waitFor({ state: 'detached' })
    }
    const status = page.getByRole('status').filter({ hasText: 'Message deleted' })
    const undoing = page.getByRole('list', { name: 'Actions you can undo' })

    await remove()
    await status.getByRole('button', { name: 'Undo' }).click()
    await shown.waitFor()
    await remove()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shown.waitFor()
    await remove()
    await undoing.getByRole('button', { name: 'Undo' }).click()
    await shown.waitFor()
    expect(await status.count()).toBe(0)
    await page.waitForTimeout(5_500)
    expect(await line(other, said).count()).toBe(1)
    expect(await shown.count()).toBe(1)

    await remove()
    expect(await line(other, said).count()).toBe(1)
    await line(other, said).waitFor({ state: 'detached' })
    await page.getByText('Message deleted by a moderator').last().waitFor()
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })

  test('M64: a tap undoes a deletion on a phone', async () => {
    const [page, other] = [await plaza.guest(phone), await plaza.guest()]
    const said = await speak(page)
    await line(other, said).waitFor()
    await line(page, said).and(page.locator('.sent')).focus()
    await line(page, said).getByRole('button', { name: 'More' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Delete' }).tap()
    await line(page, said).waitFor({ state: 'detached' })
    await page.locator('.toasts').getByRole('button', { name: 'Undo' }).tap()
    await line(page, said).waitFor()
    await page.waitForTimeout(5_500)
    expect(await line(other, said).count()).toBe(1)
  })

  const leavings: [string, (page: Page) => Promise<unknown>][] = [
    ['the page is loaded again', (page) => page.reload()],
    ['the page is closed', (page) => page.close({ runBeforeUnload: true })],
    ['the browser goes elsewhere', (page) => page.goto('about:blank')],
    [
      'its author signs out',
      async (page) => {
        await page.getByRole('button', { name: /Settings/ }).click()
        await page.getByRole('button', { name: 'Sign out' }).click()
      },
    ],
  ]
  test.each(leavings)('M64: a deletion is sent at once when %s', async (_name, leave) => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const said = await speak(page)
    await line(other, said).waitFor()
    await line(page, said).hover()
    await line(page, said).getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await line(page, said).waitFor({ state: 'detached' })
    expect(await line(other, said).count()).toBe(1)
    await leave(page)
    await line(other, said).waitFor({ state: 'detached', timeout: 3_500 })
  })

  test('M64: a deletion is sent when the page is closed, also without a socket', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await page.routeWebSocket(/socket\.io/, (socket) => socket.close())
    await page.reload()
    await trouble(page).getByText('Limited connection').waitFor()
    const said = await speak(page)
    await line(other, said).waitFor()
    await line(page, said).hover()
    await line(page, said).getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await line(page, said).waitFor({ state: 'detached' })
    await page.goto('about:blank')
    await line(other, said).waitFor({ state: 'detached', timeout: 3_500 })
  })

  test('M64: a deletion is sent while another room is open', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const said = await speak(page)
    await line(other, said).waitFor()
    await line(page, said).hover()
    await line(page, said).getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await create(page, 'Channel')
    await line(other, said).waitFor({ state: 'detached' })
  })
})
