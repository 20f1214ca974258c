import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Delivered, receiver, signedBy } from '#test/support/receiver'
import { webOver } from '#test/support/web'
import { axeFaults, confirmAct, openPlaza, openRoomSettings, phone, say } from './plaza.ts'

describe('webhooks in the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  let came: Awaited<ReturnType<typeof receiver>>
  beforeAll(async () => {
    came = await receiver()
    plaza = await openPlaza({ services: { web: webOver({ 'hooks.test': came.server.port }) } })
  })
  afterAll(async () => {
    await plaza.close()
    await came.server.close()
  })
  afterEach(() => plaza.settle())

  test('N90: an owner adds one, tests it and sends again what was given up, on a phone', async () => {
    const page = await plaza.guest(phone)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: plaza.url })
    await page.getByRole('button', { name: 'Back to the rooms' }).click()
    await page.getByRole('button', { name: 'New room' }).click()
    const room = page.getByRole('dialog', { name: 'New room' })
    await room.getByLabel('Name', { exact: true }).fill('Hooked')
    await room.getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('heading', { level: 1, name: 'Hooked' }).waitFor()

    const open = () => openRoomSettings(page, 'Webhooks')
    const dialog = await open()
    await dialog.getByText('You have no webhooks in this room yet.').waitFor()
    await dialog.getByRole('textbox', { name: 'URL' }).fill('https://127.0.0.1/')
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    await dialog.getByRole('alert').getByText('public internet').waitFor()
    const path = '/a-path-that-is-quite-long-and-names-what-it-is-for'
    await dialog.getByRole('textbox', { name: 'URL' }).fill(`https://hooks.test${path}`)
    await dialog.getByRole('combobox', { name: 'Events' }).selectOption('New messages')
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    const secret = await dialog.getByRole('textbox', { name: 'Secret' }).inputValue()
    expect(secret).toMatch(/^whsec_/)
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Secret copied.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
    await dialog.getByRole('button', { name: 'Test' }).click()
    await page.getByText('Delivered: 204').waitFor()
    expect(signedBy(came.at(path)[0] as Delivered, [secret])).toEqual([secret])
    await dialog.getByRole('button', { name: 'Close' }).click()

    await say(page, 'To a server of ours')
    await expect.poll(() => came.textsAt(path).at(-1), { timeout: 15_000 }).toBe('To a server of ours')
    await open()
    expect(await dialog.getByRole('textbox', { name: 'Secret' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Deliveries' }).click()
    const sent = dialog.getByRole('list', { name: 'Latest deliveries' })
    await sent.getByText('message.created').waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/hooks-phone-${colorScheme}.png` })
      expect({ colorScheme, faults: await axeFaults(page) }).toEqual({ colorScheme, faults: [] })
    }
    const width = await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)
    expect(width).toBe(0)
    await sent.getByRole('button', { name: 'Send again' }).click()
    await expect.poll(() => came.textsAt(path).length, { timeout: 15_000 }).toBe(3)
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await dialog.getByText('Paused').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await confirmAct(page, 'Remove')
    await dialog.getByText('You have no webhooks in this room yet.').waitFor()
  })
})
