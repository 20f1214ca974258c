import { expect, test } from 'vitest'
import { statusOf } from '#client/web/accounts/profile/status-of'

test.each([
  [{ status_emoji: '🌴', status_text: 'On holiday' }, 'Status: 🌴 On holiday'],
  [{ status_emoji: null, status_text: '@alice' }, 'Status: @alice'],
  [{ status_emoji: '🌴', status_text: null }, 'Status: 🌴'],
  [{ status_emoji: null, status_text: 'a\u202eb' }, 'Status: ab'],
  [{ status_emoji: null, status_text: null }, ''],
  [null, ''],
])('T19: %j is shown as a status, and passes for nothing else: %j', (said, shown) => {
  expect(statusOf(said)).toBe(shown)
})
