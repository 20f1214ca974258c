import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Bookings, Settings } from '#server/domains/meetings/scheduling/model'
import { asGuest, guestOf } from '#test/support/bookings'
import { axeFaults, go, openPlaza, phone } from './plaza.ts'

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
  const times = guest.locator('.booking__booking-times button')
  await guest.locator('.booking__booking-days label').nth(1).click()
  const first = (await times.first().locator('time').getAttribute('datetime')) ?? ''
  expect(await axeFaults(guest)).toEqual([])
  await times.first().click()
  await guest.getByLabel('Your name').fill('Ann Guest')
  await guest.getByLabel('Email address').fill('ann.guest@example.test')
  await guest.getByLabel('What is it about?').fill('About tea')
  expect(await axeFaults(guest)).toEqual([])

  const quicker = await asGuest(plaza.url, { recipientAddress: account, scheduledAt: first, ...guestOf('Quick Bob') })
  expect(quicker.status).toBe(200)
  await guest.getByRole('button', { name: 'Book the call' }).click()
  await guest.getByRole('alert').filter({ hasText: 'Somebody has just booked this time' }).waitFor()
  await guest.locator(`time[datetime="${first}"]`).waitFor({ state: 'detached' })
  await times.first().click()
  await guest.getByLabel('Your name').fill('Ann Guest')
  await guest.getByLabel('Email address').fill('ann.guest@example.test')
  await guest.getByRole('button', { name: 'Book the call' }).click()
  await guest.getByRole('heading', { name: 'Your call is booked' }).waitFor()
  expect(await axeFaults(guest)).toEqual([])

  await host.getByRole('button', { name: /Settings$/ }).click()
  await host.getByRole('tab', { name: 'Booking hours' }).click()
  const calls = host.getByRole('list', { name: 'Calls' }).getByRole('listitem')
  await expect.poll(() => calls.count()).toBe(2)
  expect(await axeFaults(host)).toEqual([])

  // O83: nothing is cancelled at one click, and the host reads why.
  const asked = guest.getByRole('dialog', { name: 'Cancel this call?' })
  await guest.getByRole('button', { name: 'Cancel the call' }).click()
  expect(await axeFaults(guest)).toEqual([])
  await asked.getByRole('button', { name: 'Keep the call' }).click()
  await guest.getByRole('heading', { name: 'Your call is booked' }).waitFor()
  expect(await calls.count()).toBe(2)
  await guest.getByRole('button', { name: 'Cancel the call' }).click()
  await asked.getByLabel('Reason').fill('A cold')
  await asked.getByRole('button', { name: 'Cancel the call' }).click()
  await guest.getByRole('heading', { name: 'This call is cancelled' }).waitFor()
  expect(await guest.getByRole('link', { name: 'Book another time' }).getAttribute('href')).toBe(`/schedule/${account}`)
  expect(await axeFaults(guest)).toEqual([])
  await expect.poll(() => calls.count()).toBe(1)
  await calls.getByRole('button', { name: /^Cancel/ }).click()
  await host.getByRole('dialog', { name: 'Cancel this call?' }).getByRole('button', { name: 'Cancel the call' }).click()
  await host.getByText('There are none.').waitFor()
  await host.getByText('Past and cancelled').click()
  await expect.poll(() => calls.count()).toBe(2)
  expect(await calls.allTextContents()).toEqual([
    expect.stringMatching(/Quick Bob.*cancelled/),
    expect.stringMatching(/Ann Guest.*cancelled.*Reason: .*A cold/),
  ])
  await plaza.settle()
})

test('who cannot be told whether a payment was charged pays anew once nothing more is charged with it', async () => {
  const host = await plaza.guest()
  const account = await openDiary(host, 'paid-tea')
  const sold = { scheduling_paid_enabled: true, scheduling_free_enabled: false, scheduling_price_cents: 555 }
  const paidTo = { scheduling_network: 'base-sepolia', scheduling_wallet_address: `0x${'1'.repeat(40)}` }
  await Settings.updateOne({ _id: account }, { $set: { ...sold, ...paidTo } })
  const guest = await plaza.visit(phone)
  await guest.evaluate(([key, header]) => localStorage.setItem(key, header), [
    `plaza.call-payment.${account} ann.pays@example.test`,
    'of last week',
  ] as const)
  let isOver = false
  await guest.route('**/api/scheduling/schedule', (route) => {
    if (!route.request().postData()?.includes('of last week')) return route.continue()
    const error = isOver ? 'Nobody knows, and nobody is charged any more' : 'Nobody knows yet'
    return route.fulfill({ status: 202, json: { error, code: 'PAYMENT_PENDING', payment: { is_over: isOver } } })
  })
  await guest.goto(`${plaza.url}/schedule/paid-tea`)
  await guest.locator('.booking__booking-times button').first().click()
  await guest.getByLabel('Your name').fill('Ann Pays')
  await guest.getByLabel('Email address').fill('ann.pays@example.test')
  const book = guest.getByRole('button', { name: 'Book the call' })
  await book.click()
  await guest.getByRole('alert').filter({ hasText: 'Nobody knows yet' }).waitFor()
  const anew = guest.getByRole('button', { name: 'Pay again' })
  expect(await anew.count()).toBe(0)
  isOver = true
  await book.click()
  await guest.getByRole('alert').filter({ hasText: 'nobody is charged any more' }).waitFor()
  expect(await axeFaults(guest)).toEqual([])
  await anew.click()
  await guest.getByRole('region', { name: 'What this call costs' }).waitFor()
  expect(await guest.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('call-payment')))).toEqual(
    [],
  )
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
  await go(host, '/calls')
  const booked = host.getByRole('region', { name: 'Scheduled calls' })
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
  await Bookings.updateOne({ invite_token: token }, { $set: { scheduled_at: began } })
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
