import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, field, line, openPlaza, pressInHeader, say } from './plaza.ts'

describe('people whose names look the same', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const speak = async (page: Page, text = `Said ${randomUUID()}`) => {
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    return text
  }
  const changeNames = async (page: Page, names: { display_name?: string; username?: string }) => {
    const answer = await page.evaluate(async (fields) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(fields)
      return (await fetch('/api/user/profile', { method: 'PATCH', headers, body })).ok
    }, names)
    expect(answer).toBe(true)
  }
  /** A channel with its owner, a namesake of the owner, and somebody whose name is their own. */
  const gathered = async () => {
    const [owner, twin, other] = [await plaza.guest(), await plaza.guest(), await plaza.guest()]
    const [name, alike] = ['Mira Solberg', 'Mіra  Sоlberg']
    await changeNames(owner, { display_name: name })
    await changeNames(twin, { display_name: alike })
    await owner.getByRole('button', { name: 'New room' }).click()
    await owner
      .getByRole('dialog')
      .getByLabel('Name', { exact: true })
      .fill(`Channel ${randomUUID().slice(0, 8)}`)
    await owner.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await owner.getByRole('heading', { level: 1, name: /^Channel / }).waitFor()
    for (const page of [twin, other]) {
      await page.goto(owner.url())
      await page.getByRole('button', { name: 'Join this room' }).click()
      await field(page).and(page.locator(':enabled')).waitFor()
    }
    return { owner, twin, other, name, alike }
  }

  test('N51: are told apart in messages, mentions and the list of members, on a desktop', async () => {
    const { owner, twin, other, name, alike } = await gathered()
    const [own, theirs, plain] = [await speak(owner), await speak(twin), await speak(other)]
    const handle = (text: string) => line(other, text).locator('.messages__byline .handle')
    await handle(theirs).waitFor()
    const [ofOwner, ofTwin] = [await handle(own).innerText(), await handle(theirs).innerText()]
    expect(ofOwner).toMatch(/^0x[0-9a-f]{4}…[0-9a-f]{4}$/)
    expect(ofTwin).toMatch(/^0x[0-9a-f]{4}…[0-9a-f]{4}$/)
    expect(ofTwin).not.toBe(ofOwner)
    expect(await handle(plain).count()).toBe(0)
    expect(await line(other, own).getByText('owner', { exact: true }).count()).toBe(1)
    expect(await line(other, own).getByText('not a moderator').count()).toBe(0)
    await line(other, theirs).getByText('not a moderator').waitFor()
    expect(await axeFaults(other)).toEqual([])

    await field(other).pressSequentially('@M')
    const choices = other.getByRole('listbox', { name: 'Suggestions' })
    await choices.getByRole('option', { name: alike }).getByText(`not a moderator · ${ofTwin}`).waitFor()
    await choices.getByRole('option', { name }).getByText(`owner · ${ofOwner}`).waitFor()
    await field(other).fill('')

    await pressInHeader(other, 'Members')
    const members = other.getByRole('tabpanel')
    const row = (title: string) => members.locator('section', { has: other.getByRole('heading', { name: title }) })
    await row('Owner').locator('.members-panel__member', { hasText: name }).getByText(ofOwner).waitFor()
    await row('Members').locator('.members-panel__member', { hasText: alike }).getByText(ofTwin).waitFor()
    await row('Members').locator('.members-panel__member', { hasText: alike }).getByText('not a moderator').waitFor()
    expect(await members.locator('.handle').count()).toBe(2)
    expect(await axeFaults(other)).toEqual([])
  })

  test('N51: whose name is the username of one who runs the room is marked, where the name is older', async () => {
    const { owner, twin, other } = await gathered()
    const username = `m_${randomUUID().slice(0, 8)}`
    await changeNames(other, { display_name: username })
    await changeNames(owner, { username })
    await twin.reload()
    await field(twin).waitFor()
    await line(twin, await speak(other))
      .getByText('not a moderator')
      .waitFor()
  })

  test('N51: whoever was made a moderator stands among the moderators, with a badge', async () => {
    const { owner, other } = await gathered()
    const said = await speak(other)
    const called = await other.locator('.sidebar__me strong').innerText()
    await line(owner, said).locator('.messages__who').click()
    await owner.getByRole('button', { name: 'Make moderator' }).click()
    await pressInHeader(owner, 'Members')
    const moderators = owner.locator('section', { has: owner.getByRole('heading', { name: 'Moderators' }) })
    const row = moderators.locator('.members-panel__member', { hasText: called })
    await row.getByText('moderator', { exact: true }).waitFor()
    expect(await owner.locator('.members-panel__member', { hasText: called }).count()).toBe(1)
  })
})
