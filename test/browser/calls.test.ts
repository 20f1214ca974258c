import { afterAll, beforeAll, expect, test } from 'vitest'
import { calls } from '#shared/api/meetings/calls'
import { accounts } from '#shared/api/people/accounts'
import { personAt } from '#test/support/people'
import { axeFaults, go, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

test('calls are listed as they come and go, and those that were missed stand out', async () => {
  const page = await plaza.guest(phone)
  const account = await page.evaluate(async () => {
    const answer = await fetch('/api/auth/session')
    return ((await answer.json()) as { userAddress: string }).userAddress
  })
  await go(page, '/calls')
  await page.getByText('No calls yet').waitFor()

  const other = await personAt(plaza.url, 'who calls')
  await plaza.node.callAs(account, accounts.updateProfile, { calls_from: 'everyone' })
  const to = { calleeAddress: account, callType: 'video' } as const
  const { call } = await other.does('rest', calls.start, { ...to, status: 'ringing' })
  await page.getByText('Incoming video call, ringing').waitFor()
  await other.does('rest', calls.change, { callId: call.id, status: 'missed' })
  const missed = page.getByText('Missed video call')
  await missed.waitFor()
  expect(await missed.getAttribute('class')).toBe('calls__missed')

  await other.does('rest', calls.start, { ...to, callType: 'audio', status: 'completed', durationSeconds: 65 })
  await page.getByText('Incoming call').waitFor()
  await page.getByText('1 min 5 s').waitFor()
  expect(await page.getByRole('listitem').filter({ hasText: 'call' }).count()).toBe(2)
  expect(await axeFaults(page)).toEqual([])
  await plaza.settle()
})
