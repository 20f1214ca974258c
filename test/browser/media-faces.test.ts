import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, go, openPlaza, openRoomSettings, phone } from './plaza.ts'

describe('pictures of people and rooms', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  /** A picture of 800 × 400 pixels. */
  const picture = async (page: Page) => {
    const bytes = await page.evaluate(async () => {
      const canvas = document.createElement('canvas')
      canvas.width = 800
      canvas.height = 400
      canvas.getContext('2d')?.fillRect(0, 0, 400, 400)
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg'))
      return [...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))]
    })
    return { name: 'me.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(bytes) }
  }
  const sideOf = (page: Page, image: string) =>
    expect.poll(() =>
      page
        .locator(image)
        .first()
        .evaluate((one) => [(one as HTMLImageElement).naturalWidth, (one as HTMLImageElement).naturalHeight]),
    )
  const judge = async (page: Page) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await axeFaults(page)).toEqual([])
    }
  }

  test('a person chooses a picture, which is cut square and shown, and takes it away, on a phone', async () => {
    const page = await plaza.guest(phone)
    await page.getByRole('button', { name: 'Rooms' }).click()
    await page.getByRole('button', { name: /Settings/ }).click()
    const own = page.getByRole('group', { name: 'Your picture' })
    await own.locator('input[type=file]').setInputFiles([await picture(page)])
    await own.getByRole('img', { name: 'Selected picture' }).waitFor()
    await judge(page)
    await own.getByRole('button', { name: 'Use this picture' }).click()
    await own.getByRole('button', { name: 'Remove picture' }).waitFor()
    await sideOf(page, '.sidebar__me .avatar img').toEqual([512, 512])
    await own.getByRole('button', { name: 'Remove picture' }).click()
    await own.getByRole('button', { name: 'Remove picture' }).waitFor({ state: 'detached' })
    expect(await page.locator('.sidebar__me .avatar img').count()).toBe(0)

    await own
      .locator('input[type=file]')
      .setInputFiles([{ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('x') }])
    await own.getByText('Your browser cannot open this picture.').waitFor()
  })

  test('who moderates a room gives it an icon, which its members see', async () => {
    const page = await plaza.guest()
    const name = `Icons ${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'New room' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    const dialog = (await openRoomSettings(page, 'Overview')).getByRole('group', { name: 'Icon' })
    await dialog.locator('input[type=file]').setInputFiles([await picture(page)])
    await dialog.getByRole('img', { name: 'Selected picture' }).waitFor()
    await judge(page)
    await dialog.getByRole('button', { name: 'Use this picture' }).click()
    await dialog.getByRole('button', { name: 'Remove picture' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await sideOf(page, '.rooms__room-mark img').toEqual([512, 512])
    const room = decodeURIComponent(page.url().split('/rooms/')[1] ?? '')

    const other = await plaza.guest()
    await other.evaluate(async (id) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      await fetch(`/api/channels/${id}/join`, { ...init, body: '{}' })
    }, room.slice('channel:'.length))
    await go(other, `/rooms/${encodeURIComponent(room)}`)
    await other.reload()
    await other.getByRole('heading', { level: 1, name }).waitFor()
    await sideOf(other, '.rooms__room-mark img').toEqual([512, 512])
    await other.getByRole('button', { name: 'More about this room' }).click()
    expect(await other.getByRole('menuitem', { name: 'Room settings' }).count()).toBe(0)

    await openRoomSettings(page, 'Overview')
    await dialog.getByRole('button', { name: 'Remove picture' }).click()
    await expect.poll(() => page.locator('.rooms__room-mark img').count()).toBe(0)
  })
})
