import { expect, test } from 'vitest'
import { fewAtOnce } from '#server/kernel/few-at-once'

test('parties take turns, however many works one of them has waiting', async () => {
  const run = fewAtOnce(1)
  const done: string[] = []
  const work = (name: string, party: string) => run(async () => void done.push(name), party)
  await Promise.all([...['a1', 'a2', 'a3', 'a4'].map((name) => work(name, 'a')), work('b1', 'b'), work('c1', 'c')])
  expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4'])
})

test('so many run at a time, and a failed work frees its place', async () => {
  const run = fewAtOnce(2)
  let [now, most] = [0, 0]
  const work = async (isGood: boolean) => {
    now += 1
    most = Math.max(most, now)
    await new Promise((resolve) => setImmediate(resolve))
    now -= 1
    if (!isGood) throw new Error('failed')
  }
  const ended = await Promise.allSettled([true, false, true, false, true].map((isGood) => run(() => work(isGood))))
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(most).toBe(2)
})
