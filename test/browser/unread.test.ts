import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { moderates, personAt, say as says } from '#test/support/people'
import { axeFaults, desktop, go, isLive, line, openPlaza, phone } from './plaza.ts'

describe('what is unread', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const row = (page: Page) =>
    page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').filter({ hasText: 'Show and tell' })
  const badge = async (page: Page) => {
    const shown = row(page).locator('.rooms__badge')
    return (await shown.count()) > 0 ? Number.parseInt(await shown.innerText(), 10) : 0
  }
  const bar = (page: Page) => page.getByRole('region', { name: 'Unread messages' })
  const isMarkShown = (page: Page) =>
    page.locator('.timeline__divider.new').evaluate((mark) => {
      const frame = mark.closest('.timeline')?.getBoundingClientRect()
      const { top } = mark.getBoundingClientRect()
      return frame !== undefined && top >= frame.top && top < frame.bottom
    })

  /** Somebody writes so many messages in a room that the reader has never opened. */
  async function written(page: Page, count: number): Promise<string> {
    await row(page).waitFor()
    const key = decodeURIComponent((await row(page).getAttribute('href')) ?? '').slice('/rooms/'.length)
    const room = { type: 'channel', id: key.split(':')[1] ?? '' } as RoomRef
    const word = randomUUID().slice(0, 8)
    const writers = await Promise.all(
      Array.from({ length: count / 10 }, (_, at) => personAt(plaza.url, `${word} ${at}`)),
    )
    for (const [at, writer] of writers.entries()) {
      for (let one = 0; one < 10; one++) await says(writer, room, `${word} ${at * 10 + one + 1}.\n\nA second line`)
    }
    return word
  }

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('N50: a room never opened says how much is new, and leads there, on a %s', async (_name, device) => {
    const page = await plaza.guest(device)
    if (device === phone) await go(page, '/')
    const word = await written(page, 70)
    await expect.poll(() => badge(page)).toBe(70)
    await row(page).click()
    await isLive(page)
    await line(page, `${word} 70.`).waitFor()
    await bar(page)
      .getByText(/^70 new since \d/)
      .waitFor()
    expect(await page.locator('.timeline__divider.new').count()).toBe(0)

    await bar(page).getByRole('button', { name: /Jump/ }).click()
    await expect.poll(() => isMarkShown(page)).toBe(true)
    await line(page, `${word} 1.`).waitFor()
    await bar(page).waitFor({ state: 'detached' })
    await page.locator('.timeline__divider.new').waitFor({ state: 'attached' })
  })

  test('O85: at the newest message the count ends, and the bar still leads to what was new', async () => {
    const page = await plaza.guest()
    await written(page, 70)
    await expect.poll(() => badge(page)).toBe(70)
    expect(await page.title()).toBe('Alpha · Plaza')
    await row(page).click()
    await isLive(page)
    await expect.poll(() => badge(page)).toBe(0)
    expect(await page.title()).toBe('Show and tell · Plaza')
    await bar(page)
      .getByText(/^70 new since/)
      .waitFor()
    await bar(page).getByRole('button', { name: 'Mark as read' }).click()
    await bar(page).waitFor({ state: 'detached' })
    await page.reload()
    await isLive(page)
    await row(page).waitFor()
    expect([await badge(page), await bar(page).count()]).toEqual([0, 0])
  })

  /** A guest in a channel where two others have written ten messages each meanwhile. */
  async function flooded() {
    const page = await plaza.guest()
    const word = randomUUID().slice(0, 8)
    const [host, other] = [await personAt(plaza.url, `${word} host`), await personAt(plaza.url, `${word} other`)]
    const { channel } = await host.does('rest', rooms.createChannel, { name: `Flood ${word}` })
    const room = { type: 'channel', id: channel.id } as const
    const account = await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
    await other.does('rest', rooms.join, { room })
    await plaza.node.callAs(account, rooms.join, { room })
    const ids: string[] = []
    for (const who of [other, host])
      for (let one = 1; one <= 10; one++)
        ids.push((await says(who, room, `${word} ${one}.${'\n\nAnother line'.repeat(6)}`)).id)
    await go(page, `/rooms/${roomKey(room)}`)
    await isLive(page)
    await bar(page)
      .getByText(/^20 new since/)
      .waitFor()
    return { page, room, host, other, ids }
  }

  test('a message that is deleted is no longer counted as new, and counts once where a purge took others', async () => {
    const { page, room, host, other, ids } = await flooded()
    const count = (many: number) =>
      bar(page)
        .getByText(new RegExp(`^${many} new since`))
        .waitFor()
    for (const [who, id] of [
      [other, ids[3]],
      [host, ids[15]],
    ] as const)
      await who.does('rest', messages.remove, { room, id: id ?? '' })
    await count(18)
    await says(host, room, 'One more')
    await line(page, 'One more').waitFor()
    await moderates(host, { room, action: 'purge', target: other.account })
    await count(9)
  })

  test('what a purge took is one line, and is no longer counted as new', async () => {
    const { page, room, host, other } = await flooded()
    await moderates(host, { room, action: 'purge', target: other.account })
    await page.getByText(/^10 messages from .+ deleted$/).waitFor()
    await bar(page)
      .getByText(/^10 new since/)
      .waitFor()
    expect(await page.locator('.messages__tombstone').count()).toBe(0)
    expect(await axeFaults(page)).toEqual([])
  })
})
