import { expect, test } from 'vitest'
import { createAnswerCache } from '#server/kernel/store/kept-answers'

function cache(mostWeight = 1_000) {
  let at = 0
  const kept = createAnswerCache<string>({
    secondsOf: (answer) => (answer === '' ? 15 : 60),
    weightOf: (answer) => answer.length,
    mostWeight,
    now: () => at,
  })
  const later = (seconds: number) => {
    at += seconds * 1_000
  }
  return { kept, later }
}
const says = (answer: string) => async () => answer

test('an answer is good for its time, a negative one for less', async () => {
  const { kept, later } = cache()
  await kept.of('a', says('yes'))
  await kept.of('b', says(''))
  later(14)
  expect(await kept.of('b', says('new'))).toEqual({ answer: '', ageSeconds: 14 })
  later(1)
  expect(await kept.of('b', says('new'))).toEqual({ answer: 'new', ageSeconds: 0 })
  later(44)
  expect(await kept.of('a', says('new'))).toEqual({ answer: 'yes', ageSeconds: 59 })
  expect(await kept.of('a', says('newer'), 30)).toEqual({ answer: 'newer', ageSeconds: 0 })
})

test('a failure is not kept, and leaves the answer before it', async () => {
  const { kept, later } = cache()
  await kept.of('a', says('yes'))
  later(5)
  await expect(kept.of('a', () => Promise.reject(new Error('away')), 0)).rejects.toThrow('away')
  expect(await kept.of('a', says('new'))).toEqual({ answer: 'yes', ageSeconds: 5 })
})

test('simultaneous calls share a request, and a failure of it', async () => {
  const { kept } = cache()
  let asked = 0
  const ask = async () => {
    asked++
    throw new Error('away')
  }
  const answers = await Promise.allSettled([kept.of('a', ask), kept.of('a', ask), kept.of('a', ask)])
  expect([asked, answers.map(({ status }) => status)]).toEqual([1, ['rejected', 'rejected', 'rejected']])
  expect((await kept.of('a', says('yes'))).answer).toBe('yes')
})

test('what is kept is bounded by its weight, and the oldest goes first', async () => {
  const { kept } = cache(25)
  for (const question of ['a', 'b', 'c']) await kept.of(question, says('ten signs.'))
  expect(kept.size()).toBe(2)
  expect((await kept.of('c', says('new'))).answer).toBe('ten signs.')
  expect((await kept.of('a', says('new'))).answer).toBe('new')
  await kept.of('large', says('x'.repeat(100)))
  expect(kept.size()).toBe(0)
})

test('an answer that is renewed again and again weighs once', async () => {
  const { kept, later } = cache(25)
  for (let time = 0; time < 10; time++) {
    await kept.of('a', says('ten signs.'))
    later(61)
  }
  await kept.of('b', says('ten signs.'))
  await kept.of('a', says('ten signs.'))
  expect(kept.size()).toBe(2)
})

test('what is forgotten is asked anew, also while it is being asked', async () => {
  const { kept } = cache()
  await kept.of('a', says('old'))
  kept.forget('a')
  expect((await kept.of('a', says('new'))).answer).toBe('new')
  let answer = (_: string) => {}
  const before = kept.of(
    'b',
    () =>
      new Promise<string>((resolve) => {
        answer = resolve
      }),
  )
  kept.forget('b')
  expect((await kept.of('b', says('after'))).answer).toBe('after')
  answer('before')
  expect((await before).answer).toBe('before')
  expect((await kept.of('b', says('newer'))).answer).toBe('after')
})
