import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, field, go, isLive, line, openPlaza, openRoomSettings, phone, say } from './plaza.ts'

describe('the timeline', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const notice = (page: Page) => page.locator('.timeline__notice', { hasText: 'changed the topic' })
  const setTopic = async (page: Page, topic: string) => {
    const settings = await openRoomSettings(page, 'Overview')
    await settings.getByRole('form', { name: 'Topic' }).getByRole('textbox').fill(topic)
    await page.keyboard.press('Enter')
    await page.getByText('Topic saved.').waitFor()
    await page.keyboard.press('Escape')
    await settings.waitFor({ state: 'detached' })
    await notice(page).getByText(topic).waitFor()
  }
  const owner = async (device = desktop) => {
    const page = await plaza.guest(device)
    if (device === phone) await page.getByRole('button', { name: 'Rooms' }).click()
    await page.getByRole('button', { name: 'New room' }).click()
    const name = `Channel ${randomUUID().slice(0, 8)}`
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    return page
  }
  const rows = (page: Page) =>
    page
      .locator('.timeline__rows > :is(.timeline__notice, .messages__message)')
      .evaluateAll((all) => all.map(({ classList }) => classList[0]?.replace(/^.*__/, '')))

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('a notice without a space breaks within the room, on a %s', async (_name, device) => {
    const page = await owner(device)
    await setTopic(page, 'x'.repeat(250))
    const fits = await page.locator('.timeline').evaluate((box) => box.scrollWidth <= box.clientWidth)
    expect(fits).toBe(true)
    const within = await notice(page).evaluate((box) => box.scrollWidth <= box.clientWidth)
    expect(within).toBe(true)
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('a notice begins where the messages do, on a %s', async (_name, device) => {
    const page = await owner(device)
    await setTopic(page, 'In line')
    await say(page, 'A message below it')
    const left = (of: Locator) => of.evaluate((box) => Math.round(box.getBoundingClientRect().left))
    const begins = await left(notice(page).locator('.icon'))
    expect(begins).toBe(await left(line(page, 'A message below it').locator('.text')))
  })

  test('a message that cannot be shown says so in its row, and takes no other away', async () => {
    const [reader, writer] = [await plaza.visit(desktop, spoilAttachments), await plaza.guest()]
    await enterAsGuest(reader)
    await say(writer, 'Before it')
    await line(reader, 'Before it').waitFor()
    await writer.evaluate(async () => {
      const body = JSON.stringify({ text: 'Look at this' })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch('/api/rooms/alpha/messages', { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(await answer.text())
    })
    await reader.locator('.timeline__rows').getByText('This message cannot be shown.').waitFor()
    await say(writer, 'After it')
    await line(reader, 'After it').waitFor()
    await line(reader, 'Before it').waitFor()
  })

  test('a notice stays above the first message of a room, and a message that waits stands below all notices', async () => {
    const page = await owner()
    await setTopic(page, 'Before anybody spoke')
    await say(page, 'The first')
    await line(page, 'The first').and(page.locator('.sent')).waitFor()
    expect(await rows(page)).toEqual(['notice', 'message'])

    await setTopic(page, 'Before the connection was lost')
    await page.getByRole('button', { name: 'Drop my connection' }).click()
    await say(page, 'Waiting')
    await line(page, 'Waiting').getByText('Waiting for connection').waitFor()
    expect(await rows(page)).toEqual(['notice', 'message', 'notice', 'message'])
    await page.getByRole('button', { name: 'Reconnect' }).click()
    await line(page, 'Waiting').and(page.locator('.sent')).waitFor()
    expect(await rows(page)).toEqual(['notice', 'message', 'notice', 'message'])
  })
  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])(
    'who has scrolled up and sends a message sees it; what others do moves nothing, on a %s',
    async (_name, device) => {
      const page = await owner(device)
      for (let at = 0; at < 8; at++) await say(page, `Line ${at}${'\nand more of it'.repeat(6)}`)
      await line(page, 'Line 7').and(page.locator('.sent')).waitFor()
      const box = page.locator('.timeline')
      const left = () => box.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight)
      await box.evaluate((it) => {
        it.scrollTop = 300
      })
      await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
      await setTopic(page, 'Told while older messages are read')
      expect(await left()).toBeGreaterThan(200)
      await say(page, 'My own word')
      await line(page, 'My own word').and(page.locator('.sent')).waitFor()
      await expect.poll(left).toBeLessThan(2)
      expect(await page.getByRole('button', { name: 'Jump to latest' }).count()).toBe(0)
    },
  )
  test('the end is kept where the room becomes shorter and, before that is told, longer', async () => {
    const page = await owner()
    for (let at = 0; at < 8; at++) await say(page, `Line ${at}${'\nand more of it'.repeat(6)}`)
    await line(page, 'Line 7').and(page.locator('.sent')).waitFor()
    const box = page.locator('.timeline')
    const change = (higher: number) =>
      box.evaluate(async (it, more) => {
        const row = it.querySelector<HTMLElement>('.timeline__rows > li')
        const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
        if (!row) throw new Error('There are no rows')
        row.style.paddingTop = '300px'
        await painted()
        await painted()
        await new Promise((done) => requestAnimationFrame(done))
        row.style.paddingTop = '0'
        const seen = new ResizeObserver(() => {
          seen.disconnect()
          queueMicrotask(() => {
            row.style.paddingTop = `${more}px`
          })
        })
        seen.observe(row)
        await painted()
        await painted()
        return it.scrollHeight - it.scrollTop - it.clientHeight
      }, higher)
    expect(await change(0)).toBeLessThan(2)
    expect(await change(700)).toBeLessThan(2)
  })
  test('a message at the keyboard stays in view while others write; a clicked message does not stop the timeline', async () => {
    const page = await owner()
    const other = await page.context().newPage()
    await other.goto(page.url())
    await say(page, 'To be read')
    const chosen = line(page, 'To be read')
    await chosen.and(page.locator('.sent')).waitFor()
    const isIn = () => chosen.evaluate((row) => row.getBoundingClientRect().bottom > 60)
    const fill = async (last: string) => {
      for (let at = 0; at < 3; at++) await say(other, Array(20).fill(`Line ${at}`).join('\n'))
      await say(other, last)
      await line(page, last).and(page.locator('.sent')).waitFor({ state: 'attached' })
    }
    await field(page).focus()
    await page.keyboard.press('Shift+Tab')
    await chosen.focus()
    await fill('The end by keyboard')
    expect(await isIn()).toBe(true)
    await page.getByRole('button', { name: 'Jump to latest' }).click()
    expect(await isIn()).toBe(false)

    await line(page, 'The end by keyboard').click()
    await fill('The end by mouse')
    await line(page, 'The end by mouse').waitFor()
    expect(await page.getByRole('button', { name: 'Jump to latest' }).count()).toBe(0)
  })

  test('a message that is too long is told before it is sent, and stays in the field', async () => {
    const page = await owner()
    await say(page, 'x'.repeat(10_050))
    await page.getByRole('status').getByText('This message is too long.').waitFor()
    await page.getByText('10050 / 10000').waitFor()
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true)
    expect(await page.locator('.messages__message').count()).toBe(0)

    await say(page, '😀'.repeat(10_000))
    await page.locator('.messages__message.sent').waitFor()
    expect(await page.getByText('This message is too long.').count()).toBe(0)
  })

  test('a message that the server cannot take goes back into the field to be edited', async () => {
    const page = await owner()
    await field(page).evaluate((element: HTMLTextAreaElement) => {
      const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value') ?? {}
      set?.call(element, 'Half of a sign: \ud83d')
      element.dispatchEvent(new Event('input', { bubbles: true }))
    })
    await field(page).press('Enter')
    const failed = page.locator('.messages__message.failed')
    await failed.getByText('Not sent').waitFor()
    expect(await failed.getByRole('button').filter({ hasText: 'Send again' }).count()).toBe(0)
    await failed.getByRole('button', { name: 'Edit' }).click()
    await failed.waitFor({ state: 'detached' })
    expect(await field(page).inputValue()).toMatch(/^Half of a sign: /)
    await say(page, 'A whole one')
    await line(page, 'A whole one').and(page.locator('.sent')).waitFor()
  })
})

/** Frames name an attachment at no address, as no server of ours tells it. */
const spoilAttachments = (page: Page) =>
  page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer()
    const [said, spoilt] = ['"content":"Look at this"', '"attachments":[{"url":"nowhere"}]']
    server.onMessage((frame) => socket.send(`${frame}`.replace(said, `${said},${spoilt}`)))
  })

const enterAsGuest = async (page: Page) => {
  await page.getByRole('button', { name: 'Enter as guest' }).click()
  await page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
  await go(page, '/rooms/alpha')
  await field(page).waitFor()
  await isLive(page)
}
