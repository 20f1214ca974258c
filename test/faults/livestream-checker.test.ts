import { describe, expect, test } from 'vitest'
import { checkChat, checkStates, type Standing } from './livestream-checker.ts'

const began = '2026-01-01T00:00:00.000Z'
const statuses: Partial<Record<Standing['reason'], Standing['status']>> = {
  waiting: 'idle',
  live: 'live',
  interrupted: 'live',
  no_picture: 'idle',
}
const standing = (v: number, reason: Standing['reason'], started_at: string | null = began): Standing => ({
  v,
  status: statuses[reason] ?? 'ended',
  reason,
  started_at: reason === 'waiting' ? null : started_at,
})

describe('what watchers were told of a stream', () => {
  test('is a path of the table, in whichever order it came, also where some of it was not heard', () => {
    const told = [standing(1, 'waiting'), standing(2, 'live'), standing(4, 'live'), standing(3, 'interrupted')]
    expect(checkStates([...told, standing(2, 'live'), standing(8, 'connection_lost')])).toEqual([])
  })

  test.each([
    ['a jump', [standing(1, 'live'), standing(2, 'connection_lost')], /live is followed by v 2 connection_lost/],
    ['too few steps', [standing(1, 'live'), standing(2, 'live')], /v 1 live is followed by v 2 live/],
    ['what follows an end', [standing(1, 'publisher_stopped'), standing(2, 'live')], /followed/],
    ['one version that says two things', [standing(1, 'live'), standing(1, 'interrupted')], /v 1 is/],
    ['another beginning', [standing(1, 'live'), standing(2, 'interrupted', '2026-01-01T00:00:09.000Z')], /began/],
  ])('is found out where it is %s', (_what, told, fault) => {
    expect(checkStates(told).join()).toMatch(fault)
  })
})

describe('what was acknowledged in its chat', () => {
  test('is stored once each', () => expect(checkChat(['a', 'b'], ['b', null, 'a'])).toEqual([]))

  test('is found out where it is lost or doubled', () => {
    expect(checkChat(['a', 'b'], ['b', 'b'])).toEqual([
      'the message a is stored 0 times',
      'the message b is stored 2 times',
    ])
  })
})
