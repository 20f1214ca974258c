import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayOf } from '#client/web/kit/format'
import { momentOf } from '#client/web/kit/moment'

const zone = process.env.TZ
beforeAll(() => {
  process.env.TZ = 'Europe/Berlin'
})
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

test('N33: yesterday is the day before by the calendar, also where the clocks change', () => {
  // March 29, 2026 has 23 hours, October 25 has 25.
  const at = (local: string) => new Date(local).toISOString()
  const seen = (moment: string, now: string) => dayOf(at(moment), new Date(now).getTime())
  expect(seen('2026-03-29T12:00', '2026-03-30T00:30')).toBe('Yesterday')
  expect(seen('2026-03-28T23:30', '2026-03-30T00:30')).not.toBe('Yesterday')
  expect(seen('2026-10-24T12:00', '2026-10-25T23:30')).toBe('Yesterday')
  expect(seen('2026-10-25T00:10', '2026-10-25T23:50')).toBe('Today')
  expect(seen('2026-02-28T10:00', '2026-03-01T10:00')).toBe('Yesterday')
  expect(seen('2025-12-31T23:59', '2026-01-01T00:00')).toBe('Yesterday')
})

test('O82: the time of another day names the day', () => {
  const now = new Date('2026-11-29T23:50').getTime()
  const seen = (local: string) => momentOf(new Date(local).toISOString(), now)
  expect(seen('2026-11-29T11:50')).not.toMatch(/[a-z]{3}/i)
  expect(seen('2026-11-28T11:50')).toMatch(/^Yesterday, /)
  expect(seen('2026-11-30T11:50')).toMatch(/\b30\b.*, /)
})
