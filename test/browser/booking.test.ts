import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Calls, Settings } from '#server/domains/scheduling/model'
import { asGuest, guestOf } from '#test/support/bookings'
import { axeFaults, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

/** Lets the person of a page be booked at any time, at this address; returns their account. */
async function openDiary(page: Page, scheduling_slug: string): Promise<string> {
  const account = z.string().parse(
    await page.evaluate(async () => {
      for (let dayOfWeek = 0; dayOfWeek < 7; dayOfWeek++)
        await fetch('/api/calendar/availability', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ dayOfWeek, startTime: '00:00', endTime: '24:00' }),
        })
      const answer = await fetch('/api/calendar/availability')
      const { windows } = (await answer.json()) as { windows: { wallet_address: string }[] }
      return windows[0]?.wallet_address
    }),
  )
  const set = { scheduling_enabled: true, scheduling_slug, scheduling_title: 'Tea with me', updated_at: new Date() }
  await Settings.updateOne({ _id: account }, { $set: set }, { upsert: true })
  return account
}

test('a guest chooses a time, loses it to somebody else, books another, and cancels it; the host sees both', async () => {
  const host = await plaza.guest()
  const account = await openDiary(host, 'tea-with-me')
  const guest = await plaza.visit(phone)
  await guest.goto(`${plaza.url}/schedule/tea-with-me`)
  await guest.getByRole('heading', { name: 'Tea with me' }).waitFor()
  const times = guest.locator('.booking-times button')
  await guest.locator('.booking-days label').nth(1).click()
  const first = (await times.first().locator('time').getAttribute('datetime')) ?? ''
  expect(await axeFaults(guest)).toEqual([])
  await times.first().click()
  await guest.getByLabel('Your name').fill('Ann Guest')
  await guest.getByLabel('E-mail address').fill('ann.guest@example.test')
  await guest.getByLabel('What it is about').fill('About tea')
  expect(await axeFaults(guest)).toEqual([])

  const quicker = await asGuest(plaza.url, { recipientAddress: account, scheduledAt: first, ...guestOf('Quick Bob') })
  expect(quicker.status).toBe(200)
  await guest.getByRole('button', { name: 'Book the call' }).click()
  await guest.getByRole('alert').filter({ hasText: 'Somebody has just booked this time' }).waitFor()
  await guest.locator(`time[datetime="${first}"]`).waitFor({ state: 'detached' })
  await times.first().click()
  await guest.getByLabel('Your name').fill('Ann Guest')
  await guest.getByLabel('E-mail address').fill('ann.guest@example.test')
  await guest.getByRole('button', { name: 'Book the call' }).click()
  await guest.getByRole('heading', { name: 'Your call is booked' }).waitFor()
  expect(await axeFaults(guest)).toEqual([])

  await host.getByRole('button', { name: /Settings$/ }).click()
  await host.getByRole('tab', { name: 'Free times' }).click()
  const calls = host.getByRole('list', { name: 'Calls' }).getByRole('listitem')
  await expect.poll(() => calls.count()).toBe(2)
  expect(await axeFaults(host)).toEqual([])

  await guest.getByRole('button', { name: 'Cancel the call' }).click()
  await guest.getByRole('heading', { name: 'This call is cancelled' }).waitFor()
  await expect.poll(() => calls.count()).toBe(1)
  await calls.getByRole('button', { name: /^Cancel/ }).click()
  await host.getByText('There are none.').waitFor()
  await host.getByText('Past and cancelled').click()
  await expect.poll(() => calls.count()).toBe(2)
  expect(await calls.allTextContents()).toEqual([
    expect.stringMatching(/Quick Bob.*cancelled/),
    expect.stringMatching(/Ann Guest.*cancelled/),
  ])
  await plaza.settle()
})

test('a call is listed among the calls, and joined by its link from shortly before it begins until it is over', async () => {
  const host = await plaza.guest()
  const token = z.string().parse(
    await host.evaluate(async () => {
      const scheduledAt = new Date(Date.now() + 240_000).toISOString()
      const answer = await fetch('/api/scheduling/create-shareable', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ scheduledAt }),
      })
      return ((await answer.json()) as { invite_token: string }).invite_token
    }),
  )
  await host.goto(`${plaza.url}/#/calls`)
  const booked = host.getByRole('region', { name: 'Booked' })
  await booked.getByRole('link', { name: /^Open/ }).waitFor()
  expect(await axeFaults(host)).toEqual([])
  const guest = await plaza.visit(phone)
  await guest.goto(`${plaza.url}/join/${token}`)
  await guest.getByRole('button', { name: 'Join the call' }).waitFor()
  expect(await axeFaults(guest)).toEqual([])
  await guest.getByRole('button', { name: 'Join the call' }).click()
  await guest.waitForURL(/\/room\/[A-HJ-NP-Z2-9]{6}$/)
  await guest.getByRole('heading', { name: 'Scheduled Call' }).waitFor()

  const began = new Date(Date.now() - 60_000)
  await Calls.updateOne({ invite_token: token }, { $set: { scheduled_at: began } })
  await host.reload()
  await booked.getByRole('link', { name: /^Open:/ }).waitFor()
  await booked.getByText('Past and cancelled').click()
  await booked.getByText('There are none.').waitFor()

  // Half an hour after it began, by the clock of the page.
  await guest.clock.setFixedTime(Date.now() + 2_100_000)
  await guest.goto(`${plaza.url}/join/${token}`)
  await guest.getByRole('heading', { name: 'This call is over' }).waitFor()
  expect(await guest.getByRole('button', { name: 'Join the call' }).count()).toBe(0)
  await plaza.settle()
})
