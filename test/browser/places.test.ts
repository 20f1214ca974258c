import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Streams } from '#server/domains/streams/streams/model'
import { fakeVideo } from '#server/ports/video/fake'
import { becomeModerator, desktop, field, go, isLive, line, openPlaza, phone, say, trouble } from './plaza.ts'

/** Where things are: the sidebar, the head of a room, the panel beside it, and what can be added to a message. */
describe('the places of the page', () => {
  const video = fakeVideo()
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    const at = (path: string) => () => `${plaza.url}${path}`
    const addresses = {
      whip: at('/webrtc/k'),
      rtmp: () => 'rtmp://localhost/live/k',
      hls: at('/hls/1'),
      whep: at('/w'),
    }
    plaza = await openPlaza({ isSeeded: true, services: { video: { ...video, addresses } } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const post = (page: Page, path: string, body: object) =>
    page.evaluate(
      async ([to, sent]) => {
        const answer = await fetch(to, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(sent),
        })
        if (!answer.ok) throw new Error(`${to}: ${answer.status} ${await answer.text()}`)
        return (await answer.json()) as Record<string, unknown>
      },
      [path, body] as const,
    )
  /** A channel of this guest's own, opened. */
  const channel = async (page: Page): Promise<string> => {
    const { channel: made } = (await post(page, '/api/channels', { name: `Place ${randomUUID().slice(0, 8)}` })) as {
      channel: { id: string }
    }
    await go(page, `/rooms/channel:${made.id}`)
    await field(page).waitFor()
    await isLive(page)
    return made.id
  }
  const places = (page: Page) => page.getByRole('navigation', { name: 'Places' }).getByRole('link')
  const titles = (page: Page) => places(page).locator('.rooms__room-name').allInnerTexts()
  const tabs = (page: Page) => page.getByRole('tablist', { name: 'Room details' }).getByRole('tab')
  const panel = (page: Page, name: string) => page.getByRole('complementary', { name })
  const hasOverflow = (box: Locator) => box.evaluate((one) => one.scrollWidth > one.clientWidth)

  test('N63: the sidebar has Mentions, Live now and Agents above the rooms, each while it has something to show', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const headings = () => page.getByRole('navigation', { name: 'Your rooms' }).getByRole('heading').allInnerTexts()
    expect(await titles(page)).toEqual(['Agents', 'Calls', 'Friends'])
    expect(await headings()).toEqual(['Rooms'])
    await post(page, '/api/groups', { name: `Circle ${randomUUID().slice(0, 8)}`, memberAddresses: [] })
    await page.reload()
    await expect.poll(headings).toEqual(['Rooms', 'Groups'])

    await go(other, '/live/new')
    await other.getByRole('textbox', { name: 'Title' }).fill('From the roof')
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByRole('button', { name: 'End stream' }).waitFor()
    const stored = await Streams.findOne({ title: 'From the roof' }).lean()
    video.publish(stored?.stream_id ?? '')
    await places(page).filter({ hasText: 'From the roof' }).waitFor()
    expect(await titles(page)).toEqual(['Live now', 'Agents', 'Calls', 'Friends'])

    const account = await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
    const text = 'You there'
    await post(other, '/api/rooms/channel/show-and-tell/messages', {
      content: text,
      client_msg_id: randomUUID(),
      mentions: [{ id: account, kind: 'user', start: 0, len: 3 }],
    })
    await places(page).filter({ hasText: 'Mentions' }).waitFor()
    expect(await titles(page)).toEqual(['Mentions', 'Live now', 'Agents', 'Calls', 'Friends'])
    await places(page).filter({ hasText: 'Mentions' }).click()
    await line(page, text).last().waitFor()
    await expect.poll(() => titles(page)).toEqual(['Live now', 'Agents', 'Calls', 'Friends'])
    video.stop(stored?.stream_id ?? '')
    await expect.poll(() => titles(page)).toEqual(['Agents', 'Calls', 'Friends'])
  })

  test('N63: one panel has a tab for each part that has something to show, and shows one of them at a time', async () => {
    const [page, visitor] = [await plaza.guest(), await plaza.guest()]
    const id = await channel(page)
    await page.getByRole('button', { name: 'Members' }).click()
    expect(await tabs(page).allInnerTexts()).toEqual(['Members', 'Search', 'Moderation'])
    await say(page, 'Keep this')
    await line(page, 'Keep this').and(page.locator('.sent')).focus()
    await page.keyboard.press('p')
    await expect.poll(() => tabs(page).allInnerTexts()).toEqual(['Members', 'Pins', 'Search', 'Moderation'])

    await tabs(page).first().focus()
    const shown = ['Pins', 'Search', 'Moderation', 'Members']
    for (const name of shown) {
      await page.keyboard.press('ArrowRight')
      await panel(page, name).waitFor()
      await tabs(page).and(page.locator(':focus')).filter({ hasText: name }).waitFor()
      expect(await page.locator('aside.panel').count()).toBe(1)
      expect(await tabs(page).and(page.locator('[aria-selected=true]')).allInnerTexts()).toEqual([name])
      if (name !== 'Moderation') expect(await page.getByRole('tabpanel').count()).toBe(1)
    }
    await tabs(page).filter({ hasText: 'Pins' }).click()
    await page.getByRole('list', { name: 'Pinned messages' }).getByText('Keep this').click()
    await page.locator('.messages__message.marked', { hasText: 'Keep this' }).waitFor()
    await page.getByRole('button', { name: 'Unpin' }).click()
    await page.getByText('No pinned messages').waitFor()

    await go(visitor, `/rooms/channel:${id}`)
    await visitor.getByRole('button', { name: 'Join this room' }).click()
    await visitor.getByRole('button', { name: 'Members' }).click()
    expect(await tabs(visitor).allInnerTexts()).toEqual(['Members', 'Search'])
  })

  test('N63: the panel is closed by Escape, and the keyboard goes on where it was', async () => {
    const page = await plaza.guest()
    const opener = page.getByRole('button', { name: 'Members' })
    await opener.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('searchbox', { name: 'Search members' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await panel(page, 'Members').waitFor({ state: 'detached' })
    await opener.and(page.locator(':focus')).waitFor()
  })

  test('a new room begins with what its manager does first, until each is done', async () => {
    const [page, visitor] = [await plaza.guest(phone), await plaza.guest()]
    const id = await channel(page)
    const [invite, topic] = ['Invite people', 'Write a topic'].map((name) =>
      page.locator('.timeline').getByRole('button', { name }),
    )
    await invite?.click()
    const settings = page.getByRole('dialog', { name: 'Room settings' })
    await settings.getByRole('region', { name: 'Invite by link' }).waitFor()
    await page.keyboard.press('Escape')
    await settings.waitFor({ state: 'detached' })
    await topic?.click()
    await page.getByRole('dialog', { name: 'Topic' }).getByRole('textbox').fill('Sheds')
    await page.getByRole('dialog', { name: 'Topic' }).getByRole('button', { name: 'Save' }).click()
    await topic?.waitFor({ state: 'detached' })
    expect(await invite?.count()).toBe(1)
    await go(visitor, `/rooms/channel:${id}`)
    await visitor.getByRole('button', { name: 'Join this room' }).click()
    await isLive(visitor)
    await invite?.waitFor({ state: 'detached' })
    await visitor.locator('.timeline').getByText('No messages yet').waitFor()
    expect(await visitor.locator('.timeline').getByRole('button').count()).toBe(0)
  })

  test('N63: media of a room are in the panel, and lead to their messages, on a phone too', async () => {
    const page = await plaza.guest(phone)
    await channel(page)
    const buffer = Buffer.from(
      await page.evaluate(async () => {
        const canvas = document.createElement('canvas')
        const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
        return [...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))]
      }),
    )
    const file = { name: 'blank.png', mimeType: 'image/png', buffer }
    await page.locator('.attach-button__attach input[type=file]').setInputFiles(file)
    await page.getByRole('list', { name: 'To be sent' }).getByText('not sent yet').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.locator('.messages__message.sent .media__picture').waitFor()
    await page.getByRole('button', { name: 'Members' }).click()
    await tabs(page).filter({ hasText: 'Media' }).click()
    const media = page.getByRole('list', { name: 'Media' })
    await media.locator('.media__picture').waitFor()
    await media.getByRole('button').last().click()
    await panel(page, 'Media').waitFor({ state: 'detached' })
    await page.locator('.messages__message.marked .media__picture').waitFor()
  })

  test('N63: what can be added to a message is what exists and the rules of the room allow', async () => {
    const page = await plaza.guest()
    const id = await channel(page)
    const offered = async () => {
      await page.getByRole('button', { name: 'Attach' }).click()
      const found = await page.getByRole('menu', { name: 'Attach' }).getByRole('menuitem').allInnerTexts()
      await page.keyboard.press('Escape')
      return found.map((text) => text.split('\n')[0])
    }
    expect(await offered()).toEqual(['Photo or GIF', 'Voice message', 'Poll', 'Location', 'Pixel art'])
    const settle = (rules: object) => post(page, '/api/chat-rules', { chatType: 'channel', chatId: id, rules })
    await settle({ polls_allowed: 'disabled', photos_allowed: 'disabled' })
    await expect.poll(offered).toEqual(['GIF', 'Voice message', 'Location', 'Pixel art'])
    await settle({ voice_allowed: 'disabled', location_sharing_allowed: 'disabled' })
    await expect.poll(offered).toEqual(['GIF', 'Pixel art'])
    await settle({ gifs_allowed: 'disabled', pixel_art_allowed: 'disabled' })
    await page.getByRole('button', { name: 'Attach' }).waitFor({ state: 'detached' })
  })

  test('N63: the head of a room fits on a phone, and its menu has what it has no place for', async () => {
    const page = await plaza.guest(phone)
    await becomeModerator(page)
    await page.getByRole('button', { name: 'Close this panel' }).click()
    const head = page.locator('.room-head')
    expect(await hasOverflow(head)).toBe(false)
    expect(await hasOverflow(page.locator('body'))).toBe(false)
    const name = await head.getByRole('heading').boundingBox()
    expect(name?.width).toBeGreaterThan(50)
    expect(await head.locator('> :is(button, .holder):visible').count()).toBeLessThanOrEqual(4)
    for (const title of ['Rules of this room', 'Moderation']) {
      await page.getByRole('button', { name: 'More about this room' }).click()
      await page.getByRole('menuitem', { name: title }).click()
      await page.getByRole('dialog').or(panel(page, title)).waitFor()
      if (title !== 'Moderation') await page.keyboard.press('Escape')
    }
    await page.setViewportSize(desktop.viewport)
    await page.getByRole('button', { name: 'More about this room' }).click()
    await page.getByRole('menuitem').first().waitFor()
    expect(await page.getByRole('menuitem', { name: 'Rules of this room' }).isVisible()).toBe(false)
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('N63: the state of the connection is shown only while something is wrong, on a %s', async (_name, device) => {
    const page = await plaza.guest(device)
    expect(await trouble(page).count()).toBe(0)
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0)
    await page.getByRole('complementary', { name: 'Demo' }).getByRole('button', { name: 'Drop my connection' }).click()
    await trouble(page).getByText('You disconnected.').waitFor()
    expect(await trouble(page).count()).toBe(1)
    await go(page, '/agents')
    await trouble(page).getByText('You disconnected.').waitFor()
    await trouble(page).getByRole('button', { name: 'Reconnect' }).click()
    await trouble(page).waitFor({ state: 'detached' })
  })

  test('N63: on a phone a tap on "More" of a message shows its whole menu, wherever the message is', async () => {
    const page = await plaza.guest(phone)
    await channel(page)
    await say(page, `Tall${'\nand taller'.repeat(40)}`)
    await line(page, 'Tall').and(page.locator('.sent')).waitFor()
    const isSeen = (one: Locator) =>
      one.evaluate((element) => {
        const { x, y, width, height } = element.getBoundingClientRect()
        return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
      })
    const more = page.getByRole('toolbar', { name: 'Message' }).getByRole('button', { name: 'More' })
    const tapMessage = async () => {
      const box = await page.locator('.timeline').boundingBox()
      if (!box) throw new Error('There is no timeline')
      await page.touchscreen.tap(box.x + box.width * 0.7, box.y + box.height / 2)
      await more.waitFor()
      expect(await isSeen(more)).toBe(true)
    }
    const openMenu = async () => {
      await tapMessage()
      // A part of the page that has loaded moves the message away from where the finger was.
      await page.setViewportSize({ ...phone.viewport, height: phone.viewport.height / 2 })
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      await page.setViewportSize(phone.viewport)
      await more.tap()
      const items = page.getByRole('menu', { name: 'More' }).getByRole('menuitem')
      await items.first().waitFor()
      await expect.poll(async () => Promise.all((await items.all()).map(isSeen))).not.toContain(false)
      await page.keyboard.press('Escape')
      await items.first().waitFor({ state: 'detached' })
    }
    await openMenu()
    await page.getByRole('button', { name: 'Members' }).tap()
    await tabs(page).filter({ hasText: 'Moderation' }).tap()
    await panel(page, 'Moderation').waitFor()
    await openMenu()
  })
})
