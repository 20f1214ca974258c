import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, field, go, isLive, line, openPlaza, phone, say } from './plaza.ts'

describe('a picture in the timeline', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  /** A guest in a channel of their own. */
  const alone = async (device: typeof desktop) => {
    const page = await plaza.guest(device)
    const id = await page.evaluate(
      async (name) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name }) }
        const { channel } = (await (await fetch('/api/channels', init)).json()) as { channel: { id: string } }
        return channel.id
      },
      `Shapes ${randomUUID().slice(0, 8)}`,
    )
    const enter = async () => {
      await go(page, `/rooms/${encodeURIComponent(`channel:${id}`)}`)
      await field(page).waitFor()
      await isLive(page)
    }
    await enter()
    return { page, id, enter }
  }
  /** Uploads a picture of this size, and sends it. */
  const send = (page: Page, id: string, width: number, height: number) =>
    page.evaluate(
      async ([id, width, height]) => {
        const canvas = document.createElement('canvas')
        canvas.width = width
        canvas.height = height
        canvas.getContext('2d')?.fillRect(0, 0, width, height / 2)
        const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
        const form = new FormData()
        form.set('file', blob ?? '')
        const { url } = (await (await fetch('/api/upload', { method: 'POST', body: form })).json()) as { url: string }
        const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
        const body = JSON.stringify({ text: `[IMAGE]${url}`, type: 'photo' })
        const answer = await fetch(`/api/rooms/channel/${id}/messages`, { ...init, body })
        if (!answer.ok) throw new Error(await answer.text())
      },
      [id, width, height] as const,
    )
  const hold = async (page: Page) => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/files/**', async (route) => {
      await held
      await route.continue()
    })
    return () => release()
  }
  const frames = (page: Page) => page.locator('.messages__message.sent .media__picture-frame')
  const sizes = (page: Page) =>
    frames(page).evaluateAll((all) => all.map(({ clientWidth, clientHeight }) => [clientWidth, clientHeight] as const))
  const loaded = (page: Page, count: number) =>
    expect
      .poll(() =>
        frames(page)
          .locator('img')
          .evaluateAll((all) => all.filter((one) => (one as HTMLImageElement).naturalWidth > 0).length),
      )
      .toBe(count)
  /** Where a row is painted, once all that was loaded has its place. */
  const topOf = async (page: Page, text: string) => {
    await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))))
    return line(page, text).evaluate((row) => row.getBoundingClientRect().top)
  }

  test.each([
    ['desktop', desktop, 320],
    ['phone', phone, 844 * 0.6],
  ] as const)(
    'has its own shape, as high as the %s has room for; the end stays the end while it comes',
    async (_name, device, highest) => {
      const { page, id, enter } = await alone(device)
      const release = await hold(page)
      await send(page, id, 300, 600)
      await send(page, id, 640, 360)
      await send(page, id, 40, 4_000)
      const last = `After them ${randomUUID()}`
      await say(page, last)
      await line(page, last).and(page.locator('.sent')).waitFor()
      const before = await topOf(page, last)
      release()
      await loaded(page, 3)
      await expect.poll(async () => (await sizes(page)).every(([width, height]) => width / height !== 4 / 3)).toBe(true)
      await expect.poll(async () => Math.abs((await topOf(page, last)) - before)).toBeLessThan(1)
      const shown = await sizes(page)
      const [portrait, landscape, strip] = shown.map(([width, height]) => ({ height, shape: width / height }))
      expect(portrait?.shape).toBeCloseTo(0.5, 1)
      expect(landscape?.shape).toBeCloseTo(16 / 9, 1)
      expect(strip?.shape).toBeCloseTo(0.4, 1)
      expect(portrait?.height).toBeGreaterThan(highest - 4)
      for (const [, height] of shown) expect(height).toBeLessThanOrEqual(highest)

      // What was loaded once has its place at once.
      await go(page, '/rooms/alpha')
      await isLive(page)
      await page.unroute('**/files/**')
      const again = await hold(page)
      await enter()
      await line(page, last).waitFor()
      expect(await sizes(page)).toEqual(shown)
      again()
    },
  )

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('moves nothing that is read below it, on a %s', async (_name, device) => {
    const { page, id } = await alone(device)
    const release = await hold(page)
    await send(page, id, 300, 600)
    await send(page, id, 800, 200)
    const read = `Read ${randomUUID()}`
    await say(page, read)
    await say(page, Array.from({ length: 80 }, (_, at) => `line ${at}`).join('\n'))
    await line(page, 'line 79').and(page.locator('.sent')).waitFor()
    // Where it is read, the pictures stand above what is seen, or in its upper half.
    await line(page, read).evaluate((row) => row.scrollIntoView({ block: 'start' }))
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
    const before = await topOf(page, read)
    release()
    await loaded(page, 2)
    await expect.poll(async () => (await sizes(page)).map(([width, height]) => width > height)).toEqual([false, true])
    await expect.poll(async () => Math.abs((await topOf(page, read)) - before)).toBeLessThan(1)
  })
})
