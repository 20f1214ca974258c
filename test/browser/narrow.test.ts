import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DeviceKeys } from '#server/domains/people/device-keys/model'
import { fakeVideo } from '#server/ports/video/fake'
import { agents } from '#shared/api/agents/agents'
import { calls } from '#shared/api/meetings/calls'
import { meetings } from '#shared/api/meetings/meetings'
import { accounts } from '#shared/api/people/accounts'
import { friends } from '#shared/api/people/friends'
import { chatFolders } from '#shared/api/rooms/chat-folders'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { streams } from '#shared/api/streams/streams'
import type { AnswerOf, CallOf, Operation } from '#shared/kit/contract'
import { dmOf, roomKey } from '#shared/kit/room-key'
import { personAt } from '#test/support/people'
import { field, go, isLive, openPlaza } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true, services: { video: fakeVideo() } })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const narrow = (width: number) => ({ viewport: { width, height: 740 }, hasTouch: true })

/** What reaches beyond the right edge of the window or of its box, and what is cut off without a sign of it. */
const beyond = (page: Page, among = 'body *'): Promise<string[]> =>
  page.evaluate((selector) => {
    const named = (element: Element) => `${element.tagName.toLowerCase()}.${[...element.classList].join('.')}`
    const root = document.documentElement
    const wide = root.scrollWidth > root.clientWidth ? [`the page is ${root.scrollWidth} wide`] : []
    const all = [...document.querySelectorAll(selector)]
    const scrolling = all.filter((element) => {
      const { overflowX, overflowY } = getComputedStyle(element)
      // Whoever lets a box scroll up and down lets it scroll sideways, too.
      const scrolls = overflowY === 'auto' || overflowY === 'scroll'
      // A row of tabs is there to be moved sideways.
      const isTooWide = overflowX === 'auto' && element.scrollWidth > element.clientWidth + 1
      return scrolls && isTooWide && element.role !== 'tablist'
    })
    const spilling = all.filter((element) => {
      const { overflowX, textOverflow, display } = getComputedStyle(element)
      const { clientWidth, scrollWidth } = element
      if (clientWidth < 2 || display === 'inline' || scrollWidth <= clientWidth + 1) return false
      // A menu, and the sign of who is online, hang over the edge of their box.
      if ([...element.children].some((child) => getComputedStyle(child).position === 'absolute')) return false
      return overflowX === 'visible' || (overflowX === 'hidden' && textOverflow !== 'ellipsis')
    })
    const squeezed = all.filter((element) => {
      const { width, height } = element.getBoundingClientRect()
      return element.textContent !== '' && width > 1 && width < 24 && height > 80
    })
    const out = all.filter((element) => {
      const { right, width, height } = element.getBoundingClientRect()
      if (right <= innerWidth + 1 || width === 0 || height === 0) return false
      for (let box = element.parentElement; box; box = box.parentElement)
        if (getComputedStyle(box).overflowX !== 'visible') return false
      return true
    })
    return [
      ...wide,
      ...scrolling.map((box) => `scrolls: ${named(box)}`),
      ...spilling.map((box) => `spills: ${named(box)}`),
      ...squeezed.map((one) => `a letter a line: ${named(one)}`),
      ...out.map((one) => `beyond: ${named(one)}`),
    ]
  }, among)

/** Titles that lose letters to the buttons beside them, and a strip of the demo that has more than one row. */
const crowded = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const titles = [...document.querySelectorAll('.room-head h1')]
    const cut = titles.filter((title) => title.scrollWidth > title.clientWidth + 1)
    const strips = [...document.querySelectorAll('aside[aria-label="Demo"]')].filter((strip) => strip.clientHeight > 48)
    return [
      ...cut.map((title) => `cut: ${title.textContent}`),
      ...strips.map((strip) => `two rows: ${strip.textContent}`),
    ]
  })

test.each([320, 360, 390])('O27: no screen scrolls sideways on a window of %i pixels', async (width) => {
  const found: Record<string, string[]> = {}
  const look = async (page: Page, name: string) => {
    const out = [...(await beyond(page)), ...(await crowded(page))]
    if (out.length > 0) found[name] = [...new Set(out)].slice(0, 6)
  }
  const first = await plaza.visit(narrow(width))
  await first.locator('.room-preview__room-preview-lines li').first().waitFor()
  await look(first, 'welcome')
  await first.getByRole('button', { name: 'Live now' }).click()
  await first.waitForLoadState('networkidle')
  await look(first, 'live, signed out')

  const page = await plaza.guest(narrow(width))
  await page.locator('.messages__message').first().waitFor()
  await look(page, 'room')
  const open = async (path: string) => {
    await go(page, path)
    await page.locator('main h1').first().waitFor()
    await page.waitForLoadState('networkidle')
    await look(page, path)
  }
  await open('/')
  for (const panel of ['members', 'search', 'pins', 'media']) await open(`/rooms/alpha/${panel}`)
  for (const path of ['/agents', '/agents/new', '/calls', '/friends', '/starred', '/live', '/live/new'])
    await open(path)
  await open('/profile')
  await open('/')
  await page.getByRole('button', { name: /Settings$/ }).click()
  await page.getByRole('dialog').getByRole('tab').first().waitFor()
  for (const tab of await page.getByRole('dialog').getByRole('tab').all()) {
    await tab.click()
    await page.waitForLoadState('networkidle')
    await look(page, `settings: ${await tab.innerText()}`)
  }
  const close = async () => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await close()
  await page.getByRole('button', { name: 'Browse channels' }).click()
  await page.getByRole('dialog').getByRole('listitem').first().waitFor()
  await look(page, 'channels')
  await close()
  await open('/rooms/alpha')
  await field(page).fill('A long line that is being written here, which goes on and on')
  await look(page, 'writing')
  await page.getByRole('button', { name: 'Attach' }).click()
  await look(page, 'attach')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More about this room' }).click()
  await look(page, 'menu')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Be the moderator' }).click()
  await page.getByRole('complementary', { name: 'Moderation' }).waitFor()
  await look(page, 'moderation')
  expect(found).toEqual({})
})

const word = 'W'.repeat(48)

/** A person, a friend of theirs and all that both have made, with the longest words that each text takes. */
async function wordy(page: Page) {
  const { node, url } = plaza
  const account = await page.evaluate(async () => {
    const answer = await fetch('/api/auth/session')
    return ((await answer.json()) as { userAddress: string }).userAddress
  })
  const other = await personAt(url, `a long name ${randomUUID()}`)
  const doer =
    (who: string) =>
    <O extends Operation>(operation: O, input: CallOf<O>): Promise<AnswerOf<O>> =>
      node.callAs(who, operation, input)
  const [as, them] = [doer(account), doer(other.account)]
  const about = { display_name: `N${word}`, bio: word.repeat(3), status_text: word, calls_from: 'everyone' } as const
  await as(accounts.updateProfile, about)
  await them(accounts.updateProfile, about)
  const { id } = await them(friends.request, { toAddress: account, memo: word })
  await as(friends.accept, { requestId: id })
  await as(friends.renameByAddress, { friendAddress: other.account, nickname: word })

  const { channel } = await as(rooms.createChannel, {
    name: `C${word}${randomUUID().slice(0, 4)}`,
    description: word.repeat(2),
  })
  const room = { type: 'channel', id: channel.id } as const
  await them(rooms.join, { room })
  await as(rooms.setTopic, { room, topic: word.repeat(2) })
  const { message } = await them(messages.send, { room, text: word.repeat(4) })
  await as(messages.send, { room, text: `@${word} https://example.org/${word}`, reply_to: message.id })
  await as(messages.pin, { room, id: message.id, pinned: true })
  await as(polls.create, { room, question: word.repeat(2), options: [word.repeat(2), `${word}2`] })
  const agent = {
    name: `A${word}`,
    personality: word.repeat(3),
    visibility: 'public',
    tags: [word.slice(0, 25)],
  } as const
  const made = await as(agents.create, { ...agent, tags: [word.slice(0, 25)], suggestedQuestions: [word.repeat(2)] })
  const { stream } = await as(streams.create, { title: `S${word}${word.slice(0, 20)}`, description: word.repeat(2) })
  const meeting = await as(meetings.create, { title: word })
  await as(chatFolders.create, { label: word.slice(0, 32) })
  await as(calls.start, { calleeAddress: other.account, callType: 'audio', status: 'completed' })
  await DeviceKeys.updateMany({ account }, { name: word })
  return {
    account,
    other,
    room: roomKey(room),
    agent: made.agent.id,
    stream: stream.id,
    meeting: meeting.room.joinCode,
  }
}

test.each([320, 390, 1280])(
  'O27: words without a break stay in their boxes on a window of %i pixels',
  async (width) => {
    const found: Record<string, string[]> = {}
    const look = async (page: Page, name: string) => {
      const out = await beyond(page)
      if (out.length > 0) found[name] = [...new Set(out)].slice(0, 6)
    }
    const first = await plaza.visit(narrow(width))
    await first.getByRole('button', { name: 'Email' }).click()
    await first.getByRole('textbox').first().fill(`${word}.of.a.person@subdomain.${word}.example.org`)
    await first.keyboard.press('Enter')
    await first.getByText('We sent a code to').waitFor()
    await look(first, 'a code on its way')

    const page = await plaza.guest(narrow(width))
    const { account, other, ...made } = await wordy(page)
    const visit = async (path: string, open = go) => {
      await open(page, path)
      await page.locator('h1').first().waitFor()
      await page.waitForLoadState('networkidle')
      await look(page, path)
    }
    await visit(`/rooms/${made.room}`)
    await page.locator('.poll-card__poll').waitFor()
    await look(page, 'poll')
    for (const panel of ['members', 'search', 'pins', 'media', 'moderation'])
      await visit(`/rooms/${made.room}/${panel}`)
    await visit(`/live/${made.stream}`)
    await page.getByText('Publish with OBS', { exact: true }).click()
    await look(page, 'keys of a stream')
    for (const path of ['/', '/live', '/agents', `/agents/${made.agent}/chat`, `/agents/${made.agent}/edit`])
      await visit(path)
    for (const path of ['/calls', '/friends', '/starred', '/profile', `/profile/${other.account}`]) await visit(path)
    await other.does('rest', calls.start, {
      calleeAddress: account,
      callType: 'video',
      status: 'ringing',
      channelName: made.meeting,
    })
    const ringing = page.getByRole('alert', { name: 'is calling' })
    await ringing.waitFor()
    await look(page, 'ringing')
    const name = await ringing.getByText('is calling').boundingBox()
    expect.soft(name?.width).toBeGreaterThan(150)
    await ringing.getByRole('button', { name: 'Decline' }).click()

    await visit('/')
    await page.getByRole('button', { name: /Settings$/ }).click()
    const tabs = page.getByRole('dialog').getByRole('tab')
    await tabs.first().waitFor()
    for (const tab of await tabs.all()) {
      await tab.click()
      await page.waitForLoadState('networkidle')
      await look(page, `settings: ${await tab.innerText()}`)
    }
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Browse channels' }).click()
    await page.getByRole('dialog').getByRole('listitem').first().waitFor()
    await look(page, 'channels')
    for (const path of [`/agents/${made.agent}`, `/live/${made.stream}`, `/room/${made.meeting}`])
      await visit(path, async () => void (await page.goto(plaza.url + path)))
    expect(found).toEqual({})
  },
)

test('O27: at the largest text, the hint of the field and all tabs of the panel are seen on a window of 320 pixels', async () => {
  const page = await plaza.guest(narrow(320))
  await page.evaluate(() => localStorage.setItem('plaza.size', 'largest'))
  await page.goto(`${plaza.url}/rooms/alpha`)
  await isLive(page)
  const missing = await field(page).evaluate((element) => {
    const { font, paddingInlineStart, paddingInlineEnd } = getComputedStyle(element)
    const line = document.createElement('canvas').getContext('2d')
    if (!line || !(element instanceof HTMLTextAreaElement)) return null
    line.font = font
    const room = element.clientWidth - Number.parseFloat(paddingInlineStart) - Number.parseFloat(paddingInlineEnd)
    return Math.max(0, line.measureText(element.placeholder).width - room)
  })
  expect(missing).toBe(0)
  expect(await beyond(page, '.composer, .composer *')).toEqual([])
  await page.getByRole('button', { name: 'Be the moderator' }).click()
  const panel = page.getByRole('complementary', { name: 'Moderation' })
  await panel.getByRole('tab', { name: 'Log' }).waitFor()
  const widths = await panel
    .getByRole('tablist')
    .evaluateAll((lists) => lists.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
  expect(widths).toEqual([0, 0])
})

test('O27: at the largest text, the header of a room shows its title and its facts on a window of 320 pixels', async () => {
  const page = await plaza.guest(narrow(320))
  const { account, other, room } = await wordy(page)
  const direct = roomKey(dmOf(account, other.account))
  await page.evaluate(() => localStorage.setItem('plaza.size', 'largest'))
  const found: Record<string, string[]> = {}
  for (const path of ['/rooms/alpha', `/rooms/${room}`, `/rooms/${direct}`]) {
    await page.goto(plaza.url + path)
    await isLive(page)
    const out = await beyond(page, '.room-head, .room-head *')
    if (out.length > 0) found[path] = out
  }
  await go(page, '/')
  await page
    .getByRole('navigation', { name: 'Your rooms' })
    .getByRole('link', { name: /Ask anything/ })
    .click()
  await page.locator('.online-count').waitFor()
  const isCut = (element: Element) => element.scrollWidth > element.clientWidth + 1
  expect(await page.locator('.room-head h1').evaluate(isCut)).toBe(false)
  expect(await page.locator('.room-facts .numerals').evaluate(isCut)).toBe(false)
  expect(found).toEqual({})
})
