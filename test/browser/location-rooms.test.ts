import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browse, desktop, openPlaza, phone } from './plaza.ts'

const harbour = { latitude: 53.543_21, longitude: 9.965_43 }
const besides = (metres: number) => ({ ...harbour, latitude: harbour.latitude + metres / 111_195 })
const shots = process.env.SHOTS

describe('rooms of places', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const at = (geolocation: typeof harbour, size: object = desktop) =>
    plaza.guest({ ...size, geolocation, permissions: ['geolocation'] })
  const judge = async (page: Page, name: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await axeFaults(page), `${name} ${colorScheme}`).toEqual([])
      if (shots) await page.screenshot({ path: `${shots}/${name}-${colorScheme}.png` })
    }
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  }
  const near = async (page: Page) => {
    const back = page
      .getByRole('link', { name: 'Back to the rooms' })
      .or(page.getByRole('button', { name: 'Back to the rooms' }))
    if (await back.first().isVisible()) await back.first().click()
    await browse(page, 'Near me')
    return page.getByRole('dialog', { name: 'Rooms near me' })
  }
  const found = async (page: Page, name: string, radius: string) => {
    const form = page.getByRole('dialog', { name: 'New room' })
    await form.getByRole('radio', { name: /^Location room/ }).check()
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByLabel(/^Radius in metres/).fill(radius)
    return form
  }

  test('one who is there makes its room, another who is there finds and joins it', async () => {
    const [page, other] = [await at(harbour), await at(besides(90), phone)]
    await page.getByRole('button', { name: 'New room' }).click()
    const form = await found(page, 'Old harbour', '200')
    await form.getByText('nobody can verify').waitFor()
    await judge(page, 'create')
    await form.getByRole('button', { name: 'Create location room' }).click()
    await page.getByRole('heading', { level: 1, name: 'Old harbour' }).waitFor()

    const list = await near(other)
    await judge(other, 'near-before')
    expect(await list.getByRole('listitem').count()).toBe(0)
    await list.getByRole('button', { name: 'Use my location' }).click()
    await list.getByText(/^\d+ m away · 1 member · within 200 m$/).waitFor()
    await judge(other, 'near-found')
    await list.getByRole('button', { name: 'Join Old harbour' }).click()
    await other.getByRole('heading', { level: 1, name: 'Old harbour' }).waitFor()
    await other.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
    const again = await near(other)
    await again.getByRole('button', { name: 'Use my location' }).click()
    await again.getByRole('button', { name: 'Open Old harbour' }).waitFor()
  })

  test('who is not there is shown the gate and why, and joins once they are', async () => {
    const member = await at(harbour)
    await member.getByRole('button', { name: 'New room' }).click()
    const again = await found(member, 'Lighthouse', '100')
    await again.getByRole('button', { name: 'Create location room' }).click()
    // A place has one room: that of the test before is opened.
    await member.getByRole('heading', { name: 'For people at Old harbour' }).waitFor()
    const room = member.url()
    for (const [name, size] of [
      ['desktop', desktop],
      ['phone', phone],
    ] as const) {
      const page = await at(besides(900), size)
      await page.goto(room)
      await page.getByRole('heading', { name: 'For people at Old harbour' }).waitFor()
      await page.getByText('You can join Old harbour if you state that you are within 200 m of it.').waitFor()
      await judge(page, `gate-${name}`)
      await page.getByRole('button', { name: 'Use my location' }).click()
      await page.getByRole('heading', { name: 'Old harbour did not let you in' }).waitFor()
      await page.getByText(/and you say you are 9\d0 m away\.$/).waitFor()
      await page.getByText('what the account says; nothing proves it, checked just now').waitFor()
      await judge(page, `refused-${name}`)
      await page.context().setGeolocation(besides(20))
      await page.getByRole('button', { name: 'Use my location again' }).click()
      await page.getByRole('heading', { level: 1, name: 'Old harbour' }).waitFor()
      await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
    }
  })

  test('a browser that may not tell, and a journey that nobody makes, are refused in words', async () => {
    const page = await at(besides(400_000))
    const list = await near(page)
    await page.context().clearPermissions()
    await list.getByRole('button', { name: 'Use my location' }).click()
    await list.getByText('Location access was denied.').waitFor()
    await page.context().grantPermissions(['geolocation'])
    await list.getByRole('button', { name: 'Use my location' }).click()
    await list.getByText('No rooms within 5 km').waitFor()
    await judge(page, 'near-none')
    await list.getByRole('button', { name: 'Create one' }).click()
    const form = await found(page, 'Far away', '100')
    await form.getByRole('button', { name: 'Create location room' }).click()
    await page.getByRole('heading', { level: 1, name: 'Far away' }).waitFor()
    await page.context().setGeolocation(harbour)
    await (await near(page)).getByRole('button', { name: 'Use my location' }).click()
    await list.getByRole('button', { name: 'Join Old harbour' }).click()
    await page.getByText('Nobody travels so fast from where you said you were before').waitFor()
  })
})
