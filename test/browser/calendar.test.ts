import { afterAll, beforeAll, expect, test } from 'vitest'
import { Connections } from '#server/domains/meetings/calendar/model'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { calendarCallback } from '#shared/api/meetings/calendar'
import { axeFaults, openPlaza } from './plaza.ts'

const calendars = fakeCalendars()
let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ services: { calendars } })
  // A provider that asks nothing, and leads back at once.
  const { askAt } = calendars
  calendars.askAt = (asking) => {
    askAt(asking)
    return `${plaza.url}${calendarCallback}?${new URLSearchParams({ code: 'mine', state: asking.state })}`
  }
})
afterAll(() => plaza.close())

test('a calendar is connected in the settings, said to need that again, and disconnected', async () => {
  const page = await plaza.guest()
  const open = async () => {
    await page.getByRole('button', { name: /Settings$/ }).click()
    await page.getByRole('tab', { name: 'Booking hours' }).click()
  }
  await open()
  const section = page.getByRole('region', { name: 'Your calendar' })
  await section.getByRole('button', { name: 'Connect Google Calendar' }).click()
  await page.getByText('Your calendar is connected.').waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('')
  await open()
  await section.getByText('Connected as mine@calendars.test').waitFor()
  expect(await axeFaults(page)).toEqual([])

  await Connections.updateMany({}, { $set: { is_active: false } })
  await page.reload()
  await section.getByText('has to be connected again').waitFor()
  expect(await axeFaults(page)).toEqual([])
  await section.getByRole('button', { name: 'Disconnect' }).click()
  await section.getByRole('button', { name: 'Connect Google Calendar' }).waitFor()
  await page.goto(`${plaza.url}/?calendar_error=access_denied`)
  await page.getByText('no calendar is connected').waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('')
  await plaza.settle()
})
