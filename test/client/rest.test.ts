import { expect, test } from 'vitest'
import { restDoor } from '#client/sdk/rest'

test('an answer that breaks off is no answer', async () => {
  const reached: boolean[] = []
  const ask = restDoor({
    url: 'http://localhost',
    fetch: async () => new Response('{"room":'),
    token: () => null,
    cut: () => new AbortController().signal,
    reached: (answered) => reached.push(answered),
  })
  const outcome = ask('GET /api/rooms/alpha', {})
  await expect(outcome).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { answered: false } })
  expect(reached).toEqual([false])
})
