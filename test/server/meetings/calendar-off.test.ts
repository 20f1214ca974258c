// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Connections } from '#server/domains/meetings/calendar/model'
import { calendar } from '#shared/api/meetings/calendar'
import { type Booted, boot } from '#test/support/boot'
import { comeBack } from '#test/support/calendars'
import { outcomeOf, person } from '#test/support/people'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

test('where no calendars are configured none is connected: 500 to who asks, and a word to who comes back', async () => {
  const who = await person(server, 'without calendars')
  expect(outcomeOf(await who.tries('rest', calendar.connect, {}))).toBe('500 SERVICE_UNAVAILABLE')
  expect(await comeBack(server.url, { code: 'a', state: 'b' })).toBe('calendar_error=not_configured')
  const none = { connected: false, connection: null, available: false }
  expect(await who.does('rest', calendar.status, {})).toEqual(none)
})

test('a calendar that was connected before is not called connected, and can be disconnected', async () => {
  const who = await person(server, 'with a calendar of before')
  const at = new Date()
  await Connections.create({
    _id: `google:${who.account}`,
    wallet_address: who.account,
    provider: 'google',
    access_token: 'sealed',
    refresh_token: 'sealed',
    token_expires_at: at,
    calendar_id: 'primary',
    calendar_email: null,
    is_active: true,
    last_sync_at: at,
    refresh_at: at,
    created_at: at,
  })
  const status = await who.does('rest', calendar.status, {})
  expect(status).toMatchObject({ connected: false, available: false, connection: { wallet_address: who.account } })
  await who.does('rest', calendar.disconnect, {})
  expect((await who.does('rest', calendar.status, {})).connection).toBe(null)
})
