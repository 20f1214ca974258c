import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Connections } from '#server/domains/meetings/calendar/model'
import { axeFaults, openPlaza } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

test('a calendar that was connected before is not called connected where none can be asked', async () => {
  const page = await plaza.guest()
  const account = z.string().parse(
    await page.evaluate(async () => {
      const answer = await fetch('/api/auth/session')
      return ((await answer.json()) as { userAddress: string }).userAddress
    }),
  )
  const at = new Date()
  await Connections.create({
    _id: `google:${account}`,
    wallet_address: account,
    provider: 'google',
    access_token: 'sealed',
    refresh_token: 'sealed',
    token_expires_at: at,
    calendar_id: 'primary',
    calendar_email: 'mine@calendars.test',
    is_active: true,
    last_sync_at: at,
    refresh_at: at,
    created_at: at,
  })
  await page.getByRole('button', { name: /Settings$/ }).click()
  await page.getByRole('tab', { name: 'Booking hours' }).click()
  const section = page.getByRole('region', { name: 'Your calendar' })
  await section.getByText('Calendars are not available on this server').waitFor()
  expect(await section.getByText('Connected as').count()).toBe(0)
  expect(await section.getByRole('button').allTextContents()).toEqual(['Disconnect'])
  expect(await axeFaults(page)).toEqual([])
  await section.getByRole('button', { name: 'Disconnect' }).click()
  await section.waitFor({ state: 'detached' })
  await plaza.settle()
})
