import { expect, onTestFinished, test, vi } from 'vitest'
import { History } from './history.ts'

test('P21: the calm of a run is its time without the faults that take a part away, however these overlap', () => {
  let now = 1_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const history = new History()
  now += 100
  const first = history.disturb()
  now += 10
  const second = history.disturb()
  now += 10
  first()
  expect(history.calm()).toBe(100)
  now += 10
  second()
  now += 5
  expect(history.calm()).toBe(105)
  expect(history.now()).toBe(135)
})
