// Modes: embedded
import { expect, test } from 'vitest'
import { invites } from '#shared/api/people/invites'
import { points } from '#shared/api/people/points'
import { bootWith } from '#test/support/boot-with'
import { people } from '#test/support/people'

const { server } = await bootWith([], { environment: { RATE_LIMIT_SCALE: '1' } })

test('codes of invites are guessed ten times an hour', async () => {
  const [guesser, inviter] = await people(server, 'guessing', 'guessed')
  for (const minute of [0, 1]) {
    server.setAhead(minute * 61)
    for (let guess = 0; guess < 5; guess++)
      expect((await guesser.refused('rest', invites.redeem, { code: `0000000${guess}` })).code).toBe('INVALID_INVITE')
  }
  server.setAhead(2 * 61)
  const [{ code = '' } = {}] = (await inviter.does('rest', invites.list, {})).invites
  const refusal = await guesser.refused('rest', invites.redeem, { code })
  expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 3_600 })
  expect((await guesser.does('rest', points.balance, {})).balance).toBe(0)
})
