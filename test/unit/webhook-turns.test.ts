import { expect, test } from 'vitest'
import { createWebhookTurns, type WebhookTurnEnd } from '#server/domains/platform/webhooks/positions'

/** Turns that end when the test says so. */
function held() {
  const running = new Map<string, (end: WebhookTurnEnd) => void>()
  const begun: string[] = []
  const turns = createWebhookTurns((id) => {
    begun.push(id)
    return new Promise((resolve) => running.set(id, resolve))
  })
  const end = async (id: string, given: Partial<WebhookTurnEnd> = {}) => {
    running.get(id)?.({ isMore: false, isSlow: false, ...given })
    running.delete(id)
    // Whatever follows from its end has happened.
    await new Promise(setImmediate)
  }
  return { turns, begun, running, end }
}
const ids = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at}`)

test('N90: a node delivers 64 webhooks at once, and each that asks in its turn', async () => {
  const { turns, begun, end } = held()
  const all = ids('hook', 66)
  for (const id of all) turns.request(id, id)
  expect(begun).toEqual(all.slice(0, 64))
  await end('hook3', { isMore: true })
  expect(begun.at(-1)).toBe('hook64')
  await end('hook5')
  await end('hook6')
  // What has more to send goes on after those that wait.
  expect(begun.slice(-2)).toEqual(['hook65', 'hook3'])
})

test('N90: a webhook that is woken in its turn has one more, and never two at a time', async () => {
  const { turns, begun, end } = held()
  turns.request('hook', 'somebody')
  turns.request('hook', 'somebody')
  turns.request('hook', 'somebody')
  expect(begun).toEqual(['hook'])
  await end('hook')
  expect(begun).toEqual(['hook', 'hook'])
  await end('hook')
  expect(begun).toHaveLength(2)
})

test('N90: receivers that hang leave half of the places to others, and are four of an account', async () => {
  const { turns, begun, running, end } = held()
  const hanging = ids('hanging', 60)
  const accountOf = (id: string) => `account of ${id}`
  for (const id of hanging) turns.request(id, accountOf(id))
  for (const id of hanging) await end(id, { isSlow: true })
  for (const id of hanging) turns.request(id, accountOf(id))
  expect(running.size).toBe(32)
  const sound = ids('sound', 33)
  for (const id of sound) turns.request(id, 'somebody')
  expect(begun.slice(-32)).toEqual(sound.slice(0, 32))
  // One that has answered in time again is none of them.
  await end('hanging0')
  turns.request('hanging0', accountOf('hanging0'))
  await end('sound0')
  await end('sound1')
  expect(begun.slice(-2)).toEqual(['sound32', 'hanging0'])

  const other = held()
  const ofOne = ids('slow', 6)
  for (const id of ofOne) other.turns.request(id, 'one')
  for (const id of ofOne) await other.end(id, { isSlow: true })
  for (const id of ofOne) other.turns.request(id, 'one')
  other.turns.request('fifth', 'one')
  expect([...other.running.keys()]).toEqual([...ofOne.slice(0, 4), 'fifth'])
})

test('N90: after its end a node begins no turn', async () => {
  const { turns, begun, end } = held()
  turns.request('hook', 'somebody')
  turns.end()
  await end('hook', { isMore: true })
  turns.request('other', 'somebody')
  expect(begun).toEqual(['hook'])
})
