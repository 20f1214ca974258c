import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fakeToolServers } from '#server/ports/tool-servers/fake'
import type { ToolResult } from '#server/ports/tool-servers/port'
import { fakeWeb } from '#server/ports/web/fake'
import { axeFaults, desktop, field, go, isLive, openPlaza, phone, say } from './plaza.ts'

const guide = 'https://harbour.test/guide'
const web = fakeWeb({
  [guide]: `<title>The harbour</title><p>${'The lighthouse opens at seven, and closes when the last boat is in. '.repeat(6)}`,
})
let answerTool: () => Promise<ToolResult> = async () => ({ text: 'A red fox', isError: false })
const inputSchema = { type: 'object', properties: { colour: { type: 'string' } } }
const foxes = fakeToolServers({
  'https://foxes.test/mcp': [
    { name: 'find_fox', description: 'Finds a fox by its colour', inputSchema, answer: () => answerTool() },
  ],
})

describe('answers of agents, by a script', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ services: { web, toolServers: foxes.open } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  /** An agent of a guest, who is where it is asked. */
  const chatOf = async (device: Parameters<typeof plaza.guest>[0], given: object): Promise<[Page, string]> => {
    const page = await plaza.guest(device)
    const { agent } = (await call(page, 'POST', '/api/agents', given)) as { agent: { id: string } }
    await go(page, `/agents/${agent.id}/chat`)
    await field(page).waitFor()
    return [page, agent.id]
  }
  const call = (page: Page, method: string, path: string, body: object): Promise<unknown> =>
    page.evaluate(
      async ([how, where, text]) => {
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(where, { method: how, headers, body: text, credentials: 'same-origin' })
        if (!answer.ok) throw new Error(await answer.text())
        return answer.json()
      },
      [method, path, JSON.stringify(body)] as const,
    )
  const lastAnswer = (page: Page) => page.locator('.agents__answer').last()
  const written = (page: Page) => page.locator('.agents__working').waitFor({ state: 'detached' })

  test('that a script answers is said before the first question, beside old answers, and where an agent is tried', async () => {
    const [page, id] = await chatOf(desktop, { name: 'Scripted' })
    const notice = page.getByRole('note').filter({ hasText: 'a script answers in its place' })
    await page.getByRole('heading', { name: 'Scripted', level: 2 }).waitFor()
    await notice.waitFor()
    await say(page, 'Hello')
    await lastAnswer(page).getByText('Hello! I am').waitFor()
    await page.reload()
    await lastAnswer(page).getByText('Hello! I am').waitFor()
    await notice.waitFor()
    await go(page, `/agents/${id}/edit`)
    await page.getByRole('region', { name: 'Try it' }).getByRole('note').waitFor()
  })

  test('the conversation stays at its end as it grows, and scrolls alone', async () => {
    const [page] = await chatOf({ viewport: { width: 1000, height: 360 } }, { name: 'Long' })
    for (const question of ['one', 'two']) {
      await say(page, question)
      await lastAnswer(page).getByText('in what I know').waitFor()
    }
    await written(page)
    const conversation = page.getByRole('region', { name: 'Conversation' })
    expect(await conversation.evaluate((box) => box.scrollHeight > box.clientHeight)).toBe(true)
    await expect
      .poll(() => conversation.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight))
      .toBeLessThan(2)
    expect(await lastAnswer(page).evaluate((answer) => answer.getBoundingClientRect().bottom < innerHeight - 60)).toBe(
      true,
    )
    expect(await page.evaluate(() => document.documentElement.scrollHeight > innerHeight)).toBe(false)
  })

  test('an answer has numbers that open its sources, and what it knows has a title that its owner changes', async () => {
    const [page, id] = await chatOf(desktop, { name: 'Keeper', useKnowledgeBase: true })
    await page.context().route(`${guide}*`, (route) => route.fulfill({ body: 'The source itself' }))
    await go(page, `/agents/${id}/edit`)
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    const adding = page.getByRole('form', { name: 'Add a page' })
    await adding.getByRole('textbox', { name: 'Address' }).fill(guide)
    await adding.getByText('Title', { exact: true }).click()
    await adding.getByRole('textbox', { name: 'Title' }).fill('Guide of the port')
    await adding.getByRole('button', { name: 'Add' }).click()
    const known = page.getByRole('list', { name: 'What it knows' })
    await known.getByText('Read: 1 page').waitFor()
    await page.getByText('1 of 10 pages').waitFor()
    await known.getByRole('button', { name: 'Edit: Guide of the port' }).click()
    const changing = page.getByRole('dialog', { name: 'Edit knowledge' })
    await changing.getByRole('textbox', { name: 'Title' }).fill('Guide of the harbour')
    await page.keyboard.press('Enter')
    await known.getByText('Guide of the harbour').waitFor()
    await page.reload()
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    await known.getByText('Guide of the harbour').waitFor()

    await go(page, `/agents/${id}/chat`)
    await say(page, 'When does the lighthouse open?')
    for (const again of [false, true]) {
      if (again) await page.reload()
      const chip = lastAnswer(page).getByRole('link', { name: /^Source 1: / })
      await chip.waitFor()
      await lastAnswer(page).getByRole('list', { name: 'Sources' }).getByRole('link').first().waitFor()
      const [source] = await Promise.all([page.context().waitForEvent('page'), chip.click()])
      expect(new URL(source.url()).href).toBe(guide)
      await source.close()
    }
  })

  test('a tool is shown while it runs and with its time afterwards, also where it fails and after a reload', async () => {
    const [page, id] = await chatOf(phone, { name: 'Hunter' })
    await go(page, `/agents/${id}/edit`)
    await page.getByRole('tab', { name: 'Tools' }).click()
    const adding = page.getByRole('form', { name: 'Add a tool' })
    await adding.getByRole('textbox', { name: 'Name of the tool' }).fill('Foxes')
    await adding.getByRole('textbox', { name: 'Address' }).fill('https://foxes.test/mcp')
    await adding.getByText('What it is for, and how it is asked').click()
    await adding.getByRole('textbox', { name: 'What it is for' }).fill('To find foxes')
    await adding.getByRole('button', { name: 'Add' }).click()
    const tools = page.getByRole('list', { name: 'Its tools' })
    await tools.getByText('To find foxes').waitFor()
    await tools.getByRole('button', { name: 'Edit: Foxes' }).click()
    const changing = page.getByRole('dialog', { name: 'Edit Foxes' })
    await changing.getByRole('textbox', { name: 'How it is used' }).fill('Say the colour')
    await changing.getByRole('button', { name: 'Save' }).click()
    await changing.waitFor({ state: 'detached' })
    await tools.getByText('To find foxes').waitFor()

    await go(page, `/agents/${id}/chat`)
    let release: (result: ToolResult) => void = () => undefined
    answerTool = () => new Promise((resolve) => (release = resolve))
    await say(page, '/call Foxes_find_fox {"colour":"red"}')
    const used = lastAnswer(page).getByRole('list', { name: 'Tools that were used' }).getByRole('listitem')
    await used.filter({ hasText: 'running' }).waitFor()
    release({ text: 'A red fox', isError: false })
    await used.filter({ hasText: /find_fox\s*·\s*done in \d/ }).waitFor()
    await written(page)
    answerTool = async () => ({ text: 'No foxes today', isError: true })
    await say(page, '/call Foxes_find_fox {"colour":"blue"}')
    await used.filter({ hasText: /find_fox\s*·\s*failed in \d/ }).waitFor()
    await written(page)
    await page.reload()
    await used.filter({ hasText: /find_fox\s*·\s*failed in \d/ }).waitFor()
  })

  test('who asks for an appointment sees free times, also after a reload, and nothing of calls that are turned off', async () => {
    const [page] = await chatOf(phone, { name: 'Host', schedulingEnabled: true })
    for (let dayOfWeek = 0; dayOfWeek < 7; dayOfWeek++)
      await call(page, 'POST', '/api/calendar/availability', {
        dayOfWeek,
        startTime: '00:00',
        endTime: '24:00',
        timezone: 'Europe/Berlin',
      })
    await say(page, 'Can I book a call with you?')
    const card = lastAnswer(page).getByRole('region', { name: 'Free times' })
    await card.getByRole('time').first().waitFor()
    const times = await card.getByRole('time').count()
    expect(await card.innerText()).not.toMatch(/free$|\bmin\b|\$/m)
    await written(page)
    await page.reload()
    await card.waitFor()
    expect(await card.getByRole('time').count()).toBe(times)
  })

  test('who sets free times is told what is wrong with them; whoever asks sees all of them, and whom to write to, on a desktop', async () => {
    const [owner, id] = await chatOf(desktop, { name: 'Bookable', schedulingEnabled: true, visibility: 'public' })
    await go(owner, '/')
    await owner.getByRole('button', { name: /Settings$/ }).click()
    await owner.getByRole('tab', { name: 'Booking hours' }).click()
    await owner.getByText('No weekly hours yet, so nobody can book you.').waitFor()
    const adding = owner.getByRole('form', { name: 'Add hours' })
    await adding.getByLabel('To', { exact: true }).fill('08:00')
    await adding.getByRole('button', { name: 'Add' }).click()
    await adding.getByRole('alert').getByText('The end must be after the start.').waitFor()
    await adding.getByLabel('To', { exact: true }).fill('17:00')
    await adding.getByRole('button', { name: 'Add' }).click()
    const times = owner.getByRole('list', { name: 'Weekly hours' }).getByRole('listitem')
    await expect.poll(() => times.count()).toBe(5)
    for (const colorScheme of ['dark', 'light'] as const) {
      await owner.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await axeFaults(owner)).toEqual([])
    }
    await times.first().getByRole('button').click()
    await expect.poll(() => times.count()).toBe(4)
    await owner.getByRole('spinbutton', { name: 'Minimum notice, in hours' }).fill('0')
    await owner.getByRole('spinbutton', { name: 'Break between calls' }).fill('0')
    await owner.getByRole('form', { name: 'Calls' }).getByRole('button', { name: 'Save' }).click()
    await owner.getByText('Saved.').waitFor()

    const page = await plaza.guest()
    await go(page, `/agents/${id}/chat`)
    await say(page, 'Can I book a call with you?')
    const card = lastAnswer(page).getByRole('region', { name: 'Free times' })
    await card.getByRole('time').first().waitFor()
    await written(page)
    const some = await card.getByRole('time').count()
    await card.getByRole('button', { name: /^All \d+ times$/ }).click()
    expect(await card.getByRole('time').count()).toBeGreaterThan(some)
    expect(await card.locator('.chip').count()).toBe(0)
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await axeFaults(page)).toEqual([])
    }
    await card.getByRole('link', { name: 'message the owner' }).click()
    await page.getByText('End-to-end encrypted').waitFor()
  })

  test('who reads earlier messages stays where they are read', async () => {
    const [page, id] = await chatOf(phone, { name: 'Remembered' })
    for (let at = 0; at < 30; at++)
      await call(page, 'POST', `/api/agents/${id}/chat`, { message: `/fail ${at}` }).catch(() => undefined)
    await page.reload()
    const oldest = page.locator('.agents__exchange', { hasText: '/fail 5' }).first()
    await oldest.waitFor()
    const place = () => oldest.evaluate((row) => row.getBoundingClientRect().top)
    const conversation = page.getByRole('region', { name: 'Conversation' })
    await conversation.evaluate((box) => {
      box.scrollTop = 0
    })
    const before = await place()
    await page.getByRole('button', { name: 'Earlier messages' }).dispatchEvent('click')
    await page.locator('.agents__question', { hasText: '/fail 0' }).waitFor()
    await expect.poll(place).toBeLessThan(before + 60)
    expect(await place()).toBeGreaterThan(before - 60)
  })

  test('an answer of an agent that is deleted meanwhile says so to whoever asked it', async () => {
    const [owner, id] = await chatOf(desktop, { name: 'Short lived', visibility: 'public' })
    const page = await plaza.guest()
    await go(page, `/agents/${id}/chat`)
    await say(page, '/endless')
    await lastAnswer(page).getByText('and so it goes on').waitFor()
    await call(owner, 'DELETE', `/api/agents/${id}`, {})
    await lastAnswer(page).getByText('This answer was stopped.').waitFor()
    await say(page, 'Are you there?')
    await lastAnswer(page).getByText('There is no such agent. It may have been deleted.').waitFor()
  })

  test('what is asked on one device is shown on another as it is answered', async () => {
    const [page] = await chatOf(desktop, { name: 'Both' })
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByRole('heading', { name: 'Both', level: 2 }).waitFor()
    await isLive(other)
    await say(page, '/endless')
    await lastAnswer(other).getByText('and so it goes on').waitFor()
    await other.locator('.agents__question').getByText('/endless').waitFor()
    await other.getByRole('button', { name: 'Stop' }).click()
    await lastAnswer(page).getByText('This answer was stopped.').waitFor()
    expect(await page.locator('.agents__exchange').count()).toBe(1)
  })

  test('the conversation is asked, stopped and left by keys alone', async () => {
    const [page] = await chatOf(desktop, { name: 'Keys' })
    expect(await field(page).evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.type('/endless')
    await page.keyboard.press('Enter')
    await lastAnswer(page).getByText('and so it goes on').waitFor()
    await page.keyboard.press('Escape')
    await lastAnswer(page).getByText('This answer was stopped.').waitFor()
    expect(await field(page).evaluate((element) => element === document.activeElement)).toBe(true)
    const reached: string[] = []
    for (let step = 0; step < 15; step++) {
      await page.keyboard.press('Shift+Tab')
      reached.push(
        await page.evaluate(() => {
          const { activeElement } = document
          return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent ?? ''
        }),
      )
    }
    expect(reached.map((name) => name.trim())).toEqual([
      'Answer again',
      'Bad answer',
      'Good answer',
      'Copy the answer',
      'Ask again',
      'Edit the question',
      'Conversation',
      'More of /endless',
      expect.stringContaining('/endless'),
      'Search conversations',
      'New conversation',
      'Edit the agent',
      'Delete this conversation',
      'Back to the agents',
      expect.any(String),
    ])
    await page.getByRole('button', { name: 'Delete this conversation' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Delete this conversation',
    )
  })

  test('what is written of an agent stays until it is saved: in another part, on another page and over a reload', async () => {
    const page = await plaza.guest()
    await go(page, '/agents/new')
    const [name, personality, address] = ['Name', 'Personality', 'Address'].map((title) =>
      page.getByRole('textbox', { name: title }),
    ) as [Locator, Locator, Locator]
    await name.fill('Half made')
    await page.reload()
    expect(await name.inputValue()).toBe('Half made')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Half made', level: 1 }).waitFor()
    await personality.fill('Knows the sea')
    await page.getByRole('tab', { name: 'Tools' }).click()
    await page.getByRole('textbox', { name: 'Name of the tool' }).fill('Weather')
    await address.fill('http://plaza.test/mcp')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('The address must begin with https://').waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('tab', { name: 'Tools' }).click()
    expect(await address.inputValue()).toBe('http://plaza.test/mcp')

    await page.getByRole('button', { name: 'Back to the agents' }).click()
    await page.getByRole('link', { name: 'Edit Half made' }).click()
    await page.getByText('Not saved yet').waitFor()
    expect(await personality.inputValue()).toBe('Knows the sea')
    await name.fill('')
    await page.getByRole('tab', { name: 'Price' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').getByText('It needs a name.').first().waitFor()
    await expect.poll(() => name.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.getByRole('button', { name: 'Undo' }).click()
    expect([await name.inputValue(), await personality.inputValue()]).toEqual(['Half made', ''])
    await page.getByText('Everything is saved').waitFor()
    await page.reload()
    await page.getByText('Everything is saved').waitFor()
    expect(await personality.inputValue()).toBe('')
    await go(page, '/agents/new')
    expect(await name.inputValue()).toBe('')
  })

  test('the arrow keys walk the parts of an agent that are shown', async () => {
    const page = await plaza.guest()
    const { agent } = (await call(page, 'POST', '/api/agents', { name: 'Walked' })) as { agent: { id: string } }
    await go(page, `/agents/${agent.id}/edit`)
    await page.getByRole('tab', { name: 'Price' }).click()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('tab', { name: 'Settings', selected: true }).and(page.locator(':focus')).waitFor()
  })

  test('what cannot be sent is told beside its field, before it is sent', async () => {
    const page = await plaza.guest()
    await go(page, '/agents/new')
    const name = page.getByRole('textbox', { name: 'Name' })
    const isNameFocused = () => name.evaluate((element) => element === document.activeElement)
    await expect.poll(isNameFocused).toBe(true)
    await name.fill('Tagged')
    await page.getByRole('textbox', { name: 'Tags' }).fill('a, b, c, d, e, f')
    await page.getByText('At most 5 tags.').waitFor()
    await page.getByRole('button', { name: 'Create' }).click()
    expect(page.url()).toContain('/agents/new')
    await page.getByRole('textbox', { name: 'Tags' }).fill('a, b')
    await page.getByRole('textbox', { name: 'Emoji' }).fill('ab')
    await page.getByText('One emoji.').waitFor()
    await page.getByRole('textbox', { name: 'Emoji' }).fill('🦊')
    for (const [text, problem] of [
      ['x'.repeat(101), 'At most 100 characters; these are 101.'],
      ['   ', 'It needs a name.'],
    ] as const) {
      await name.fill(text)
      await page.getByRole('alert').getByText(problem).waitFor()
      expect(await name.inputValue()).toBe(text)
      await page.getByRole('button', { name: 'Create' }).click()
      expect(await isNameFocused()).toBe(true)
      expect(page.url()).toContain('/agents/new')
    }
    await name.fill('🦊'.repeat(95))
    await page.getByText('95 / 100 characters').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await name.fill('Tagged')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Tagged', level: 1 }).waitFor()
  })
})
