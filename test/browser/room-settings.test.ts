import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { agents } from '#shared/api/agents/agents'
import { personAt } from '#test/support/people'
import {
  addWallet,
  axeFaults,
  becomeModerator,
  confirmAct,
  desktop,
  enterByWallet,
  field,
  go,
  isLive,
  openPlaza,
  openRoomSettings,
  phone,
  pressInHeader,
  walletInBrowser,
} from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ environment: { ADMINS: walletInBrowser.address } })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const settings = (page: Page) => page.getByRole('dialog', { name: 'Room settings' })
const tabs = (page: Page) => settings(page).getByRole('tab').allInnerTexts()
const tab = (page: Page, name: string) => settings(page).getByRole('tab', { name, exact: true }).click()
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
const toast = (page: Page, text: string) => page.locator('.toasts').getByText(text)

/** Founds a channel, which its owner has open then. */
async function channel(page: Page): Promise<{ name: string; path: string }> {
  const name = `Channel ${randomUUID().slice(0, 8)}`
  await go(page, '/rooms/new')
  const dialog = page.getByRole('dialog', { name: 'New room' })
  await dialog.getByLabel('Name', { exact: true }).fill(name)
  await dialog.getByRole('button', { name: 'Create channel' }).click()
  await heading(page, name).waitFor()
  await isLive(page)
  return { name, path: new URL(page.url()).pathname }
}

async function join(page: Page, path: string): Promise<void> {
  await go(page, path)
  await page.getByRole('button', { name: 'Join this room' }).click()
  await isLive(page)
}

const all = ['Overview', 'Members and roles', 'Permissions and rules', 'Blocked words', 'Invitations', 'Agents']
const ofModerators = [...all, 'Moderation log']
const ofOwners = [...all, 'Webhooks', 'Moderation log', 'Danger zone']

test.each([
  ['desktop', desktop],
  ['phone', phone],
])('an owner finds each part by its address on a %s, and back leads to the room and the focus', async (_at, device) => {
  const page = await plaza.guest(device)
  const { path } = await channel(page)
  const opener = page.getByRole('button', { name: 'More about this room' })
  await opener.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Room settings' }).press('Enter')
  await settings(page).waitFor()
  expect(await tabs(page)).toEqual(ofOwners)
  expect(new URL(page.url()).pathname).toBe(`${path}/settings/overview`)
  expect(await page.title()).toBe('Room settings · Plaza')
  for (const name of ofOwners) {
    await tab(page, name)
    await settings(page).locator('.skeleton').first().waitFor({ state: 'detached' })
    expect({ name, faults: await axeFaults(page) }).toEqual({ name, faults: [] })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    expect(await settings(page).evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
  }
  expect(new URL(page.url()).pathname).toBe(`${path}/settings/danger`)
  await page.goBack()
  await settings(page).waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe(path)
  await opener.and(page.locator(':focus')).waitFor()

  await page.goto(`${plaza.url}${path}/settings/webhooks`)
  await settings(page).getByRole('tab', { name: 'Webhooks', selected: true }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => new URL(page.url()).pathname).toBe(path)
})

test('an owner changes the name, the description and the topic, and copies the address', async () => {
  const [page, other] = [await plaza.guest(), await plaza.guest()]
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: plaza.url })
  const { path } = await channel(page)
  await join(other, path)
  const overview = await openRoomSettings(page, 'Overview')
  const save = overview.getByRole('button', { name: 'Save details' })
  expect(await save.isDisabled()).toBe(true)
  const name = `Renamed ${randomUUID().slice(0, 8)}`
  await overview.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await overview.getByRole('textbox', { name: 'Description' }).fill('All about boats')
  await save.click()
  await toast(page, 'Details saved.').waitFor()
  await overview.getByRole('form', { name: 'Topic' }).getByRole('textbox').fill('High tide')
  await overview.getByRole('form', { name: 'Topic' }).getByRole('button', { name: 'Save' }).click()
  await toast(page, 'Topic saved.').waitFor()
  await overview.getByRole('button', { name: 'Copy' }).click()
  await toast(page, 'Link copied.').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(plaza.url + path)
  await heading(page, name).waitFor()
  await other.getByRole('button', { name: 'Topic: High tide' }).waitFor()
  await other.reload()
  await heading(other, name).waitFor()
  await page.reload()
  await overview.getByRole('textbox', { name: 'Address' }).waitFor()
  expect(await page.locator('dialog :focus').getAttribute('aria-label')).not.toBe('Address')
  expect(await overview.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('All about boats')
})

test('a moderator has the parts of moderators, and another member none', async () => {
  const [owner, page, other] = [await plaza.guest(), await plaza.guest(), await plaza.guest()]
  const { path } = await channel(owner)
  for (const one of [page, other]) await join(one, path)
  await other.getByRole('button', { name: 'More about this room' }).click()
  expect(await other.getByRole('menuitem', { name: 'Room settings' }).count()).toBe(0)
  await other.keyboard.press('Escape')
  await other.goto(`${plaza.url}${path}/settings/danger`)
  await settings(other).getByText('You do not manage or moderate this room.').waitFor()
  expect(await settings(other).getByRole('tab').count()).toBe(0)

  const name = await page.locator('.sidebar__me strong').innerText()
  await openRoomSettings(owner, 'Members and roles')
  await settings(owner).getByRole('searchbox', { name: 'Search members' }).fill(name)
  await settings(owner).getByRole('button', { name }).click()
  await owner.getByRole('dialog', { name }).getByRole('button', { name: 'Make moderator' }).click()
  await settings(owner).locator('.chip', { hasText: 'moderator' }).waitFor()
  await page.goto(`${plaza.url}${path}/settings/danger`)
  // What is not for them gives way to the first part that is.
  await settings(page).getByRole('tab', { name: 'Overview', selected: true }).waitFor()
  const shown = await tabs(page)
  expect(ofModerators.filter((one) => shown.includes(one))).toEqual(shown)
  expect(shown).not.toContain('Blocked words')
})

test('rules and words are set in the settings, and the desk has no other place for them', async () => {
  const [page, other] = [await plaza.guest(), await plaza.guest()]
  const { path } = await channel(page)
  await join(other, path)
  const form = await openRoomSettings(page, 'Permissions and rules')
  await form.getByRole('checkbox', { name: 'Only moderators can write' }).check()
  await form.getByRole('button', { name: 'Save rules' }).click()
  await toast(page, 'Rules saved').waitFor()
  await expect.poll(() => field(other).isEnabled()).toBe(false)
  await tab(page, 'Blocked words')
  await form.getByText('No blocked words').waitFor()
  await form.getByRole('textbox', { name: 'Word or pattern' }).fill('barnacle')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await form.getByRole('button', { name: 'Remove barnacle' }).waitFor()
  await page.keyboard.press('Escape')
  await pressInHeader(page, 'Moderation')
  const desk = page.getByRole('tablist', { name: 'Moderation' })
  await desk.waitFor()
  expect(await desk.getByRole('tab').allInnerTexts()).toEqual(['Log', 'Queue', 'Banned'])
})

test('a list that cannot be loaded says so, and loads once it can', async () => {
  const page = await plaza.guest()
  await channel(page)
  await page.route('**/api/blocked-words*', (route) => route.abort())
  const words = await openRoomSettings(page, 'Blocked words')
  await words.getByRole('alert').getByText('The server cannot be reached at the moment.').waitFor()
  await page.unroute('**/api/blocked-words*')
  await words.getByRole('button', { name: 'Try again' }).click()
  await words.getByText('No blocked words').waitFor()
})

test('a room is handed over, and archived for good after a question', async () => {
  const [owner, heir] = [await plaza.guest(), await plaza.guest()]
  const { name, path } = await channel(owner)
  await join(heir, path)
  await openRoomSettings(owner, 'Danger zone')
  await settings(owner).getByRole('button', { name: 'Choose a member' }).click()
  const person = await heir.locator('.sidebar__me strong').innerText()
  await settings(owner).getByRole('button', { name: person }).click()
  const card = owner.getByRole('dialog', { name: person })
  await card.getByRole('button', { name: 'Transfer ownership' }).click()
  await confirmAct(owner, 'Transfer ownership')
  await toast(owner, `${person} manages this room now.`).waitFor()
  await tab(owner, 'Danger zone')
  await settings(owner).getByRole('button', { name: 'Leave…' }).waitFor()
  await expect.poll(() => settings(owner).getByRole('button', { name: 'Archive…' }).count()).toBe(0)

  await openRoomSettings(heir, 'Danger zone')
  await settings(heir).getByRole('button', { name: 'Archive…' }).click()
  const question = heir.getByRole('dialog', { name: 'Archive the room' })
  await question.getByText(`Archive ${name}?`).waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'detached' })
  await settings(heir).getByRole('button', { name: 'Archive…' }).click()
  await heir.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  await settings(heir).getByRole('tab', { name: 'Danger zone', selected: true }).waitFor()
  await settings(heir).getByRole('button', { name: 'Archive…' }).click()
  await question.getByRole('button', { name: 'Archive', exact: true }).click()
  await settings(heir).getByText('This room is archived. No one can write in it.').waitFor()
  expect(await settings(heir).getByRole('button', { name: 'Archive…' }).count()).toBe(0)

  // Who was a member finds it, and reads it.
  await owner.goto(`${plaza.url}/rooms/alpha`)
  await isLive(owner)
  const list = owner.getByRole('navigation', { name: 'Your rooms' })
  await list.getByText('Archived', { exact: true }).waitFor()
  expect(await list.getByRole('link', { name }).count()).toBe(0)
  await list.getByText('Archived', { exact: true }).click()
  await list.getByRole('link', { name }).click()
  await heading(owner, name).waitFor()
  await owner.locator('.room-head .chip', { hasText: 'Archived' }).waitFor()
  expect(await axeFaults(owner)).toEqual([])
  await owner.keyboard.press('Control+k')
  await owner.getByRole('combobox').fill(name.toLowerCase())
  await owner.getByRole('option').first().filter({ hasText: 'Archived room' }).waitFor()
})

test('moderators see the agents of a room; an admin adds an official one, and removes it', async () => {
  const admin = await personAt(plaza.url, 'in a browser')
  const named = { name: 'Harbour Guide', avatarEmoji: '⚓', visibility: 'official' } as const
  await admin.does('rest', agents.create, named)
  const page = await plaza.visit(desktop, addWallet)
  await enterByWallet(page)
  await page.goto(`${plaza.url}/rooms/alpha/settings/agents`)
  await settings(page).getByText('No agents in this room').waitFor()
  await settings(page).getByRole('combobox', { name: 'Official agent' }).selectOption({ index: 1 })
  await settings(page).getByRole('button', { name: 'Add', exact: true }).click()
  const row = settings(page).getByRole('list', { name: 'Agents in this room' }).getByText('Harbour Guide')
  await row.waitFor()

  const moderator = await plaza.guest()
  await becomeModerator(moderator)
  await go(moderator, '/rooms/alpha/settings/agents')
  await settings(moderator).getByText('Harbour Guide').waitFor()
  expect(await settings(moderator).getByRole('combobox').count()).toBe(0)
  expect(
    await settings(moderator)
      .getByRole('button', { name: /^Remove/ })
      .count(),
  ).toBe(0)

  await settings(page).getByRole('button', { name: 'Remove Harbour Guide' }).click()
  await confirmAct(page, 'Remove', 'Harbour Guide')
  await settings(page).getByText('No agents in this room').waitFor()
})
