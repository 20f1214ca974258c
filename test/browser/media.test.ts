import { randomUUID } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { MessageType } from '#shared/api/moderation/verdict'
import { storeFile } from '#test/support/stored-files'
import { desktop, line, openPlaza, phone, say } from './plaza.ts'

/** A picture of one colour, as a PNG. */
function png(side: number, [red, green, blue]: readonly [number, number, number]): Buffer {
  const rows = Buffer.alloc(side * (side * 3 + 1))
  for (let row = 0; row < side; row++)
    for (let at = 0; at < side; at++) rows.set([red, green, blue], row * (side * 3 + 1) + 1 + at * 3)
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc(body))
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([8, 2], 8)
  const start = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  return Buffer.concat([start, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function crc(bytes: Buffer): number {
  let sum = ~0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return ~sum >>> 0
}

describe('media in a room', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const accountOf = (page: Page) =>
    page.evaluate(async () => {
      const { user } = (await (await fetch('/api/auth/session')).json()) as { user: { wallet_address: string } }
      return user.wallet_address
    })
  /** Stores a file as one of this account's, and says its address. */
  const stored = async (page: Page, name: string, bytes: Buffer | string): Promise<string> => {
    const account = await accountOf(page)
    const place = name === '.enc' ? 'chat-images/encrypted' : 'media/chat'
    const key = `${place}/${account.toLowerCase()}/${randomUUID()}${name}`
    return storeFile(plaza.node, account, key, new Uint8Array(Buffer.from(bytes)))
  }
  const send = (page: Page, text: string, type: MessageType) =>
    page.evaluate(
      async ([text, type]) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
        const answer = await fetch('/api/rooms/alpha/messages', { ...init, body: JSON.stringify({ text, type }) })
        if (!answer.ok) throw new Error(await answer.text())
      },
      [text, type] as const,
    )
  const red = png(24, [200, 40, 40])
  const blue = png(24, [40, 40, 200])

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])(
    'photos have their place before they are loaded, and are walked through by keyboard, on a %s',
    async (_name, device) => {
      const page = await plaza.guest(device)
      const [one, two] = [await stored(page, '.png', red), await stored(page, '.png', blue)]
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route('**/files/**', async (route) => {
        await held
        await route.continue()
      })
      await send(page, one, 'photo')
      await send(page, `[IMAGE]${two}`, 'text')
      const after = `After the photos ${randomUUID()}`
      await say(page, after)
      const last = line(page, after).and(page.locator('.sent'))
      await last.waitFor()
      await expect.poll(() => page.locator('.media__picture img').count()).toBeGreaterThanOrEqual(2)
      const placeOf = () => last.evaluate((row) => row.getBoundingClientRect().top)
      const before = await placeOf()
      release()
      const pictures = page.locator('.media__picture img')
      await expect
        .poll(() =>
          pictures.evaluateAll((all) => all.slice(-2).every((one) => (one as HTMLImageElement).naturalWidth === 24)),
        )
        .toBe(true)
      expect(Math.abs((await placeOf()) - before)).toBeLessThan(1)
      expect(await pictures.last().getAttribute('alt')).toMatch(/^Photo from .+, \d/)

      await page.locator('.media__picture').last().focus()
      await page.keyboard.press('Enter')
      const light = page.locator('dialog.lightbox__lightbox')
      await light.waitFor()
      const shown = () => light.locator('img').getAttribute('src')
      expect(await shown()).toBe(two)
      await page.keyboard.press('ArrowLeft')
      expect(await shown()).toBe(one)
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      expect(await shown()).toBe(two)
      await page.keyboard.press('Escape')
      await light.waitFor({ state: 'detached' })
      expect(
        await page
          .locator('.media__picture')
          .last()
          .evaluate((button) => button === document.activeElement),
      ).toBe(true)
    },
  )

  test('what is not there, is no picture, or has no key here is said in words', async () => {
    const page = await plaza.guest()
    const gone = await stored(page, '.png', red)
    const key = gone.slice(`${plaza.url}/files/`.length)
    await plaza.node.services.storage?.remove(key)
    await send(page, gone, 'photo')
    const fault = (words: string) => page.locator('.media__media-fault', { hasText: words })
    await fault('This is no longer stored.').waitFor()
    await plaza.node.services.storage?.put(key, new Blob([new Uint8Array(red)]))
    await fault('This is no longer stored.').getByRole('button', { name: 'Try again' }).click()
    await page.locator('.media__picture img').last().waitFor()
    await expect.poll(() => fault('no longer stored').count()).toBe(0)

    await send(page, await stored(page, '.png', '<script>alert(1)</script>'), 'photo')
    await fault('Your browser cannot show this picture.').waitFor()
    await send(page, `[ENC_IMAGE:image/png]${await stored(page, '.enc', 'x'.repeat(40))}`, 'text')
    await fault('it was sent in another conversation').waitFor()
    expect(await page.getByText('[ENC_IMAGE').count()).toBe(0)
  })

  test('a location is a card that loads nothing', async () => {
    const page = await plaza.guest()
    await send(page, '[LOCATION]{"latitude":52.517,"longitude":-13.389,"name":"The square"}', 'location')
    const card = page.getByRole('region', { name: 'Location' }).last()
    await card.getByText('The square').waitFor()
    await card.getByText('52.517° N, 13.389° W').waitFor()
    expect(await card.getByRole('link').getAttribute('rel')).toBe('noopener noreferrer nofollow')
  })

  test('a GIF does not move by itself where less motion is wanted', async () => {
    const page = await plaza.guest({ ...desktop, reducedMotion: 'reduce' })
    await send(page, await stored(page, '.gif', red), 'gif')
    const frame = page.locator('.media__picture-frame').last()
    await frame.getByRole('button', { name: /^Play GIF from/ }).waitFor()
    expect(await frame.locator('img').count()).toBe(0)
    await frame.getByRole('button').click()
    await frame.getByRole('img', { name: /^GIF from/ }).waitFor()
  })

  test('a quote of media says what they are', async () => {
    const page = await plaza.guest()
    await send(page, await stored(page, '.gif', red), 'gif')
    await page.locator('.messages__message.sent').last().hover()
    await page.locator('.messages__message.sent').last().getByRole('button', { name: 'Reply' }).click()
    await page.locator('.composer-aim', { hasText: 'GIF' }).waitFor()
    const text = `What a GIF ${randomUUID()}`
    await say(page, text)
    await line(page, text).locator('.messages__quote').getByText('GIF', { exact: true }).waitFor()
  })
})
