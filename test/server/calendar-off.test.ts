// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { calendar } from '#shared/api/calendar'
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
