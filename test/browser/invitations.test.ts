import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { GroupInvitations } from '#server/domains/rooms/rooms/group-invitations/model'
import { rooms } from '#shared/api/rooms/rooms'
import { personAt } from '#test/support/people'
import { confirmAct, field, line, openPlaza, openRoomSettings, phone, say } from './plaza.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe('invitations in the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const judge = async (page: Page, screen: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.evaluate(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)))
      if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe)
      const faults = await page.evaluate(async () => {
        const { run } = (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe
        return (await run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target}`)
      })
      expect({ screen, colorScheme, faults }).toEqual({ screen, colorScheme, faults: [] })
    }
  }
  const create = async (page: Page) => {
    const name = `Group ${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'New room' }).click()
    const dialog = page.getByRole('dialog', { name: 'New room' })
    await dialog.getByText('Group', { exact: true }).click()
    await dialog.getByLabel('Name', { exact: true }).fill(name)
    await dialog.getByRole('button', { name: 'Create group' }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    return name
  }
  const invite = async (page: Page, people = '10 people') => {
    const section = page.getByRole('region', { name: 'Invite by link' })
    if (!(await section.isVisible())) await openRoomSettings(page, 'Invitations')
    await section.getByRole('combobox', { name: 'Maximum number of people' }).selectOption(people)
    const made = section.getByRole('textbox', { name: 'New invite link' })
    const before = (await made.count()) > 0 ? await made.inputValue() : ''
    await section.getByRole('button', { name: 'Create link' }).click()
    await expect.poll(async () => (await made.count()) > 0 && (await made.inputValue()) !== before).toBe(true)
    return made.inputValue()
  }
  const asked = (page: Page) => page.getByRole('dialog', { name: 'Invitation' })

  test('M64: a link made in the settings of a room lets in who follows it as a guest, on a desktop', async () => {
    const owner = await plaza.guest()
    await owner.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: plaza.url })
    const name = await create(owner)
    const url = await invite(owner)
    expect(url).toMatch(new RegExp(`^${plaza.url}/invite/[\\w-]{43}$`))
    await owner.getByRole('button', { name: 'Copy' }).click()
    await owner.getByText('Link copied.').waitFor()
    expect(await owner.evaluate(() => navigator.clipboard.readText())).toBe(url)
    await owner.getByText('0 of 10 used').waitFor()
    await judge(owner, 'links')

    const guest = await plaza.visit()
    await guest.goto(url)
    await guest.getByRole('heading', { level: 1, name }).waitFor()
    await guest.getByText('invited you to join this room.').waitFor()
    await guest.getByText('Members: 1').waitFor()
    await judge(guest, 'invited')
    await guest.getByRole('button', { name: 'Enter as guest' }).click()
    await asked(guest).getByText(name).waitFor()
    await asked(guest).getByText('1 member', { exact: true }).waitFor()
    const join = asked(guest).getByRole('button', { name: 'Join', exact: true })
    expect(await join.evaluate((button) => button === document.activeElement)).toBe(true)
    await judge(guest, 'invitation')
    expect(await guest.getByRole('navigation', { name: 'Your rooms' }).getByRole('link', { name }).count()).toBe(0)
    await join.click()
    await guest.getByRole('heading', { level: 1, name }).waitFor()
    expect(new URL(guest.url()).pathname).toMatch(/^\/rooms\/group:[^/]+$/)
    const text = `Here by a link ${randomUUID()}`
    await say(guest, text)
    await line(guest, text).and(guest.locator('.sent')).waitFor()

    await guest.goto(url)
    await asked(guest).getByText('You are already a member.').waitFor()
    await asked(guest).getByRole('button', { name: 'Open room' }).click()
    await field(guest).waitFor()
  })

  test('M64: a signed-in person is asked first, and may decline; a revoked and a used-up link show the reason', async () => {
    const [owner, other] = [await plaza.guest(), await plaza.guest()]
    const name = await create(owner)
    const url = await invite(owner, '1 person')
    await other.goto(url)
    await asked(other).getByText(name).waitFor()
    await asked(other).getByRole('button', { name: 'Not now' }).click()
    await asked(other).waitFor({ state: 'detached' })
    await expect.poll(() => new URL(other.url()).pathname).toBe('/rooms/alpha')
    await owner.getByText('0 of 1 used').waitFor()

    const revoke = owner.getByRole('list', { name: 'Active invite links' }).getByRole('button')
    await revoke.click()
    await confirmAct(owner, 'Revoke')
    await owner.getByText('No active invite links.').waitFor()
    expect(await owner.getByRole('textbox', { name: 'New invite link' }).count()).toBe(0)
    await other.goto(url)
    await asked(other).getByText('This invitation was taken back. Ask for a new one.').waitFor()
    await judge(other, 'revoked')
    const stranger = await plaza.visit(phone)
    await stranger.goto(url)
    await stranger.getByText('This invitation was taken back. Ask for a new one.').waitFor()
    await judge(stranger, 'stranger-revoked')
    await asked(other).getByRole('button', { name: 'Continue to Plaza' }).click()

    const again = await invite(owner, '1 person')
    await other.goto(again)
    await asked(other).getByRole('button', { name: 'Join', exact: true }).click()
    await other.getByRole('heading', { level: 1, name }).waitFor()
    const third = await plaza.guest()
    await third.goto(again)
    await asked(third).getByText('This invitation has been used as often as it allows.').waitFor()
    await third.goto(again.slice(0, -1))
    await asked(third).getByText('This invitation is not known.').waitFor()
  })

  test('N05: who a stranger asks into a group says yes or no in the sidebar, on a phone', async () => {
    const guest = await plaza.guest(phone)
    const account = await guest.evaluate(() => localStorage.getItem('plaza.guest-address') ?? '')
    const stranger = await personAt(plaza.url, 'stranger')
    const ask = (name: string) => stranger.does('rest', rooms.createGroup, { name, memberAddresses: [account] })
    await guest.getByRole('button', { name: 'Back to the rooms' }).click()
    const invitations = guest.getByRole('region', { name: 'Invitations' })
    expect(await invitations.isVisible()).toBe(false)

    await ask('Reading')
    await ask('Selling')
    await invitations.getByText('Selling').waitFor()
    await judge(guest, 'asked into groups')
    await invitations.getByRole('button', { name: 'Decline Selling' }).click()
    await invitations.getByText('Selling').waitFor({ state: 'detached' })
    await guest.reload()
    await invitations.getByRole('button', { name: 'Join Reading' }).click()
    await guest.getByRole('heading', { level: 1, name: 'Reading' }).waitFor()
    expect(await invitations.isVisible()).toBe(false)
  })

  test('N05: an invitation that ended unheard is gone from the page once it is answered', async () => {
    const guest = await plaza.guest()
    const account = await guest.evaluate(() => localStorage.getItem('plaza.guest-address') ?? '')
    const stranger = await personAt(plaza.url, 'stranger of what ends')
    const invitations = guest.getByRole('region', { name: 'Invitations' })
    for (const answer of ['Join', 'Decline']) {
      const name = `Ended before ${answer}`
      const { group } = await stranger.does('rest', rooms.createGroup, { name, memberAddresses: [account] })
      await invitations.getByText(name).waitFor()
      const ended = { status: 'withdrawn' as const }
      await GroupInvitations.updateOne({ _id: `group:${group.id} ${account}` }, { $set: ended })
      await invitations.getByRole('button', { name: `${answer} ${name}` }).click()
      await guest.getByText('Invitation not found, or answered already').first().waitFor()
      await invitations.getByText(name).waitFor({ state: 'detached' })
    }
  })
})
