import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { demoAttendance } from '#server/ports/attendance/scripted'
import { axeFaults, browse, desktop, openPlaza, phone } from './plaza.ts'

describe('rooms of the events whose tokens one holds', () => {
  const attendance = demoAttendance()
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true, services: { attendance } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const openList = async (page: Page) => {
    const back = page
      .getByRole('link', { name: 'Back to the rooms' })
      .or(page.getByRole('button', { name: 'Back to the rooms' }))
    if (await back.first().isVisible()) await back.first().click()
    await browse(page, 'From my tokens')
    const list = page.getByRole('dialog', { name: 'From my tokens' })
    await list.getByText('Lantern Night 2026').waitFor()
    return list
  }
  const judge = async (page: Page, name: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await axeFaults(page), `${name} ${colorScheme}`).toEqual([])
    }
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  }

  test('one holder makes the room of an event, another joins it, and both are at home there', async () => {
    const [page, other] = [await plaza.guest(desktop), await plaza.guest(phone)]
    const list = await openList(page)
    await judge(page, 'own tokens')
    await list.getByRole('button', { name: 'Create the channel of Lantern Night 2026' }).click()
    await page.getByRole('heading', { level: 1, name: 'Attendance: Lantern Night 2026' }).waitFor()
    const theirs = await openList(other)
    await judge(other, 'own tokens on a phone')
    await theirs.getByRole('button', { name: 'Join Lantern Night 2026' }).click()
    await other.getByRole('heading', { level: 1, name: 'Attendance: Lantern Night 2026' }).waitFor()
    const again = await openList(page)
    await again.getByRole('button', { name: 'Open Lantern Night 2026' }).waitFor()
  })

  test('who lacks the token is shown what was looked at, and is let in by a recheck once they hold it', async () => {
    const page = await plaza.guest()
    const list = await openList(page)
    await list.getByRole('button', { name: 'Join Founders Dinner 2026' }).click()
    await list.getByText('You need the attendance token “Founders Dinner 2026”').waitFor()
    const focused = page.locator(':focus')
    await list
      .getByRole('heading', { name: /did not let you in/ })
      .and(focused)
      .waitFor()
    const address = (await list.locator('.gate-card__gate-checks strong').first().getAttribute('title')) ?? ''
    expect(await list.locator('.gate-card__gate-checks').innerText()).toMatch(
      /does not hold it[\s\S]*attendance provider, checked/,
    )
    await judge(page, 'refused')
    await list.getByRole('button', { name: 'Check again', exact: true }).click()
    await list
      .getByRole('button', { name: /^Check again in \d+ s$/ })
      .and(focused)
      .waitFor()
    await list.getByText('nothing has changed').waitFor()
    await judge(page, 'rechecked')
    attendance.mint(address, 103)
    await list.getByRole('button', { name: 'Back', exact: true }).press('Enter')
    await list.getByRole('button').and(focused).waitFor()
    await list.getByRole('button', { name: 'Join Founders Dinner 2026' }).waitFor()
  })

  test('a token that is minted meanwhile lets its holder in', async () => {
    const page = await plaza.guest()
    const list = await openList(page)
    await list.getByRole('button', { name: 'Join Founders Dinner 2026' }).click()
    const address = (await list.locator('.gate-card__gate-checks strong').first().getAttribute('title')) ?? ''
    attendance.mint(address, 103)
    await list.getByRole('button', { name: 'Check again', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Attendance: Founders Dinner 2026' }).waitFor()
  })
})
