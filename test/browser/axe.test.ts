import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  addWallet,
  axeFaults,
  desktop,
  field,
  isLive,
  line,
  openPlaza,
  phone,
  pressInHeader,
  say,
  startPoll,
  walletInBrowser,
} from './plaza.ts'

/** Every screen is checked by axe on a desktop in the light theme, and on a phone in the dark one. */
describe('axe finds nothing', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  let found: string[]
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true, environment: { ADMINS: walletInBrowser.address } })
  })
  afterAll(() => plaza.close())

  const devices = [
    ['desktop', { ...desktop, reducedMotion: 'reduce' }],
    ['phone', { ...phone, reducedMotion: 'reduce' }],
  ] as const

  const judge = async (page: Page, screen: string) => {
    const colorScheme = page.viewportSize()?.width === phone.viewport.width ? 'dark' : 'light'
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    found.push(...(await axeFaults(page)).map((fault) => `${screen}, ${colorScheme}: ${fault}`))
  }
  const press = (page: Page, name: string | RegExp) =>
    page
      .getByRole('button', { name, exact: typeof name === 'string' })
      .first()
      .click()
  const close = async (page: Page) => {
    await page.keyboard.press('Escape')
    await page.locator('dialog[open]').waitFor({ state: 'detached' })
  }
  const open = async (page: Page, path: string) => {
    await page.goto(plaza.url + path)
    await page.locator('h1').first().waitFor()
  }

  test.each(devices)('M71: before signing in, on a %s', async (_name, device) => {
    found = []
    const page = await plaza.visit(device, addWallet)
    await page.locator('.room-preview__room-preview-lines li').first().waitFor()
    await judge(page, 'welcome')
    for (const way of ['Passkey', 'Email', 'Wallet']) {
      await press(page, way)
      await page.locator('.way-in__way-in').waitFor()
      await judge(page, way)
      if (way === 'Passkey') {
        await press(page, 'Lost your passkey?')
        await judge(page, 'lost passkey')
      }
      await press(page, 'All sign-in options')
    }
    await page.goto(`${plaza.url}/#demo=verdict`)
    await page.getByRole('complementary', { name: 'Tour' }).waitFor()
    await judge(page, 'tour')
    await page.locator('#composer:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Message blocked' }).waitFor()
    await judge(page, 'refused')
    await press(page, 'Why?')
    await judge(page, 'verdict')
    await page.context().close()
    expect(found).toEqual([])
  })

  test.each(devices)('M71: rooms, panels and dialogs on a %s', async (_name, device) => {
    found = []
    const page = await plaza.visit(device, addWallet)
    await press(page, 'Wallet')
    await press(page, 'Test Wallet')
    await page.getByRole('alert').waitFor()
    await press(page, 'Test Wallet')
    await page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
    await open(page, '/')
    await judge(page, 'room list')
    await press(page, /Settings/)
    await page.getByRole('tab').first().waitFor()
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      await judge(page, `settings: ${await tab.innerText()}`)
    }
    await close(page)
    await press(page, 'Administration')
    await page.getByRole('tab').first().waitFor()
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      await judge(page, `administration: ${await tab.innerText()}`)
    }
    await close(page)
    for (const dialog of ['Browse channels', 'New room']) {
      await press(page, dialog)
      await page.locator('dialog[open]').waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      await judge(page, dialog)
      await close(page)
    }

    await open(page, '/rooms/alpha')
    await isLive(page)
    await judge(page, 'room')
    const text = `Judge me ${randomUUID()}`
    await say(page, `${text} https://example.org`)
    await line(page, text).and(page.locator('.sent')).focus()
    await judge(page, 'message tools')
    await line(page, text).getByRole('button', { name: 'React' }).press('Enter')
    await judge(page, 'reactions')
    await page.getByRole('menuitem', { name: 'More emoji' }).press('Enter')
    await page.getByRole('dialog', { name: 'Emoji' }).waitFor()
    await judge(page, 'any reaction')
    await close(page)
    await line(page, text).getByRole('button', { name: 'More' }).press('Enter')
    await judge(page, 'message menu')
    await page.keyboard.press('Escape')
    await press(page, 'More about this room')
    await judge(page, 'room menu')
    await page.keyboard.press('Escape')
    await pressInHeader(page, 'Rules of this room')
    await judge(page, 'rules')
    if (await page.locator('dialog[open]').count()) await close(page)
    await startPoll(page)
    await judge(page, 'poll form')
    await close(page)
    await press(page, 'Choose an emoji')
    await page.getByRole('dialog', { name: 'Emoji' }).waitFor()
    await judge(page, 'emoji picker')
    await close(page)
    await say(page, '> quoted\n\n```ts\n// a note\nconst a: string = "b" + 1\n```')
    await page.locator('.hljs-number').first().waitFor()
    await judge(page, 'Markdown')
    for (const word of ['@', '#al', '/', ':sm']) {
      await field(page).fill('')
      await field(page).pressSequentially(word)
      await page.getByRole('listbox').waitFor()
      await judge(page, `suggestions for ${word}`)
    }
    await field(page).fill('')
    await field(page).press('?')
    await field(page).fill('')

    for (const panel of ['members', 'media', 'pins', 'search']) {
      await open(page, `/rooms/alpha/${panel}`)
      await page.locator('.panel .skeleton').first().waitFor({ state: 'detached' })
      await judge(page, panel)
    }
    await page.getByRole('searchbox', { name: 'Search for' }).fill('Judge')
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Results' }).getByRole('button').first().waitFor()
    await judge(page, 'search results')
    await open(page, '/rooms/alpha/members')
    await page.locator('.members-panel__member').last().click()
    await page.locator('dialog[open]').waitFor()
    await judge(page, 'person')
    await press(page, 'Message')
    await page.locator('dialog[open]').waitFor({ state: 'detached' })
    await page.getByText('End-to-end encrypted').waitFor()
    const secret = `Only for you ${randomUUID()}`
    await say(page, secret)
    await line(page, secret).and(page.locator('.sent')).waitFor()
    await judge(page, 'direct conversation')

    await open(page, '/rooms/alpha')
    const guest = await plaza.guest()
    const banned = `Ban me ${randomUUID()}`
    await say(guest, banned)
    await line(page, banned).focus()
    await page.keyboard.press('b')
    const question = page.getByRole('dialog', { name: 'Ban' })
    await question.waitFor()
    await judge(page, 'ban')
    await question.getByRole('button', { name: 'Ban', exact: true }).click()
    await guest.getByText('You are banned').waitFor()
    await judge(guest, 'banned')
    await guest.context().close()
    const deleted = `Delete me ${randomUUID()}`
    await say(page, deleted)
    await line(page, deleted).and(page.locator('.sent')).focus()
    await page.keyboard.press('d')
    const undo = page.locator('.toasts p', { hasText: 'Message deleted' }).getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await judge(page, 'undo')
    await undo.click()
    await line(page, deleted).waitFor()

    await open(page, '/rooms/alpha/moderation')
    const desk = page.getByRole('tablist', { name: 'Moderation' })
    await desk.waitFor()
    for (const tab of await desk.getByRole('tab').all()) {
      await tab.dispatchEvent('click')
      await page.locator('.panel .skeleton').first().waitFor({ state: 'detached' })
      if ((await tab.innerText()) === 'Banned') await page.getByRole('button', { name: 'Unban' }).first().waitFor()
      await judge(page, `moderation: ${await tab.innerText()}`)
    }
    await open(page, '/rooms/channel:nowhere')
    await judge(page, 'closed room')
    await open(page, '/profile')
    await page.getByText('Say something about yourself').waitFor()
    await judge(page, 'empty profile')
    await press(page, 'Look')
    await judge(page, 'look of a profile')
    await press(page, 'Add a widget')
    await page.locator('dialog[open]').waitFor()
    await judge(page, 'add a widget')
    await press(page, /^Goals/)
    await press(page, 'Add one')
    await judge(page, 'new widget')
    await close(page)
    await page.context().close()
    expect(found).toEqual([])
  })

  test.each(devices)('agents on a %s', async (_name, device) => {
    found = []
    const page = await plaza.guest(device)
    await open(page, '/agents')
    await page.getByText('No agents yet').waitFor()
    await judge(page, 'no agents')
    await press(page, 'New agent')
    await page.getByRole('textbox', { name: 'Name' }).fill('Judged')
    await page.getByRole('combobox', { name: 'Who may ask it' }).selectOption('public')
    await judge(page, 'new agent')
    await press(page, 'Create')
    await page.getByRole('heading', { name: 'Judged', level: 1 }).waitFor()
    await judge(page, 'edit agent')
    for (const part of ['Knowledge', 'Tools', 'Price']) {
      await page.getByRole('tab', { name: part }).click()
      await page.locator('.agent-edit__agent-settings .skeleton').waitFor({ state: 'detached' })
      if (part === 'Knowledge') {
        await page.getByRole('textbox', { name: 'Address' }).fill('https://plaza.invalid/guide')
        await page.keyboard.press('Enter')
        await page.locator('.agents__item-state.failed:visible').waitFor()
        await page.getByRole('button', { name: /^Edit: / }).click()
        await page.locator('dialog[open]').waitFor()
        await judge(page, 'change what an agent knows')
        await close(page)
      }
      if (part === 'Tools') {
        await page.getByText('What it is for, and how it is asked').click()
        await judge(page, 'add a tool')
        await page.getByRole('textbox', { name: 'Name of the tool' }).fill('Broken')
        await page.getByRole('textbox', { name: 'Address' }).fill('https://plaza.invalid/mcp')
        await page.getByRole('textbox', { name: 'What it is for' }).fill('Nothing')
        await press(page, 'Add')
        await press(page, 'Test Broken')
        await page.locator('.agents__item-state.failed:visible').waitFor()
        await press(page, 'Edit: Broken')
        await page.locator('dialog[open]').waitFor()
        await judge(page, 'change a tool')
        await close(page)
      }
      await judge(page, `agent: ${part}`)
    }
    await page.goto(page.url().replace(/\/edit$/, '/chat'))
    await press(page, 'What can Judged help me with?')
    await page.locator('.agents__answer-text').waitFor()
    await judge(page, 'answer')
    await page.locator('.agents__working').waitFor({ state: 'detached' })
    await say(page, '/break')
    await page.getByRole('button', { name: 'Ask again' }).waitFor()
    await judge(page, 'broken answer')
    await say(page, 'Good day')
    await page.getByRole('list', { name: 'Tools that were used' }).last().waitFor()
    await page.locator('.agents__working').waitFor({ state: 'detached' })
    await judge(page, 'tools of an answer')
    await press(page, 'Delete this conversation')
    await page.locator('dialog[open]').waitFor()
    await judge(page, 'delete conversation')
    await press(page, 'Delete')
    await page.locator('.agents__exchange').first().waitFor({ state: 'detached' })
    await open(page, '/agents')
    await page.getByRole('link', { name: 'Judged', exact: true }).first().waitFor()
    await judge(page, 'agents')
    await open(page, '/agents/none/chat')
    await page.getByText('cannot be opened').waitFor()
    await judge(page, 'no such agent')
    await page.context().close()
    expect(found).toEqual([])
  })

  test('M71: documentation and the mailbox', async () => {
    found = []
    const missing: string[] = []
    const page = await plaza.visit({ ...desktop, reducedMotion: 'reduce' })
    page.on('response', (response) => {
      if (response.status() >= 400) missing.push(response.url())
    })
    await page.goto(`${plaza.url}/docs`)
    await page.locator('main h2').first().waitFor()
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await judge(page, 'docs')
    await page.goto(`${plaza.url}/docs/rest`)
    await page.locator('#rest .info').waitFor()
    await page.goto(`${plaza.url}/dev/mail`)
    await judge(page, 'mailbox')
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('/plaza.svg')
    await page.context().close()
    expect({ found, missing }).toEqual({ found: [], missing: [] })
  })
})
