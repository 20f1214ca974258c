import { expect, test } from 'vitest'
import { FrameLog } from '#server/domains/agents/runs/frame-store'

const words = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({ t: 'chunk', off: from + at, text: `${from + at}` }) as const)
const end = { t: 'cancelled', by: 'somebody', partial_message_id: null } as const

test('frames are taken once each and in order, however often and in whatever pieces they come', () => {
  const log = new FrameLog('run')
  expect(log.take(0, words(0, 3))).toBe(true)
  expect(log.take(0, words(0, 3))).toBe(true)
  expect(log.take(1, words(1, 5))).toBe(true)
  expect(log.take(6, words(6, 8))).toBe(false)
  expect(log.frames).toEqual(words(0, 5))
  expect(log.take(2, words(2, 8))).toBe(true)
  expect(log.frames).toEqual(words(0, 8))
  expect(log.frame(7)).toEqual({ run_id: 'run', idx: 7, ...words(7, 8)[0] })
  expect(log.isOver).toBe(false)
  log.take(8, [end])
  expect(log.isOver).toBe(true)
})

test('who was told more than is kept of a run whose node was lost is given its end next, and nobody else is', async () => {
  const lost = { t: 'error', code: 'RUN_LOST', text: '', partial_message_id: null, message: '0' } as const
  const log = new FrameLog('run')
  log.take(0, words(0, 3))
  const waiting = log.reached(3, new AbortController().signal, 60_000)
  log.endWith([...words(0, 1), lost])
  await waiting
  expect(log.framesFrom(0, 9)).toMatchObject([
    { idx: 0, text: '0' },
    { idx: 1, ...lost },
  ])
  expect(log.framesFrom(0, 1)).toHaveLength(1)
  for (const idx of [1, 2, 3]) expect(log.framesFrom(idx, 9)).toEqual([{ run_id: 'run', idx, ...lost }])
  const whole = new FrameLog('run')
  whole.take(0, [...words(0, 1), end])
  expect(whole.framesFrom(2, 9)).toEqual([])
})

test('who waits for a frame is woken by it, by an abort, or in time', async () => {
  const log = new FrameLog('run')
  const gone = new AbortController()
  const [late, soon, aborted] = [new AbortController().signal, new AbortController().signal, gone.signal]
  const waits = [log.reached(0, soon, 60_000), log.reached(1, aborted, 60_000), log.reached(1, late, 10)]
  log.take(0, words(0, 1))
  gone.abort()
  await Promise.all(waits)
  await log.reached(0, soon, 60_000)
  await log.reached(5, aborted, 60_000)
})
