import { expect, test, vi } from 'vitest'
import { emptyRoom } from '#client/sdk/timeline'
import type { Writing } from '#client/sdk/types'
import { heardWord, Writers } from '#client/sdk/writing'
import type { Message } from '#shared/api/rooms/message'

type Word = Parameters<typeof heardWord>[1]
const word = (off: number, text: string, more: Partial<Word> = {}): Word => ({
  room: { type: 'alpha', id: null },
  run_id: 'r1',
  agent: { id: 'a1', name: 'Guide', avatar_emoji: '⚓' },
  reply_to: 'm1',
  off,
  text,
  state: 'writing',
  ...more,
})
const after = (...words: Word[]) => words.reduce<readonly Writing[]>((all, one) => heardWord(all, one, 1_000), [])
const textOf = (...words: Word[]) => after(...words).map(({ from, text }) => `${from}:${text}`)

test('words are joined where they belong, and one that is told again changes nothing', () => {
  expect(textOf(word(0, 'One '), word(4, 'two '), word(4, 'two '), word(0, 'One '), word(8, 'three'))).toEqual([
    '0:One two three',
  ])
})

test('after lost words the text begins where it is known', () => {
  expect(textOf(word(0, 'One '), word(9, 'three '), word(15, 'four'))).toEqual(['9:three four'])
  expect(textOf(word(9, 'three '), word(0, 'One '))).toEqual(['0:One '])
})

test('a word without text keeps what is shown, and who came after the end is shown nothing', () => {
  expect(textOf(word(0, ''), word(0, 'One '), word(4, ''), word(40, ''))).toEqual(['0:One '])
  expect(textOf(word(4, '', { state: 'ended' }))).toEqual([])
})

test('agents are shown in the order in which they began, each until it is silent for 15 s', () => {
  const other = word(0, 'Uno', { run_id: 'r2' })
  expect(after(word(0, 'One'), other, word(3, ' two')).map(({ runId }) => runId)).toEqual(['r1', 'r2'])
  expect(after(word(0, 'One')).map(({ until }) => until)).toEqual([16_000])
  expect(after(word(0, 'One'), word(3, '', { state: 'ended' }))[0]?.until).toBeLessThan(3_000)
})

/** A room that shows what its agents write, at a clock that the test moves. */
function shownRoom() {
  vi.useFakeTimers({ now: 0 })
  const view = {
    told: emptyRoom({ type: 'alpha', id: null }),
    change: (change: object) => {
      view.told = { ...view.told, ...change }
    },
  }
  const writers = new Writers(() => Date.now(), view)
  const shown = () => view.told.writing.map(({ runId, text }) => `${runId} ${text}`)
  return { view, writers, shown }
}

test('what a dead node was told to write is taken away after 15 s, and the others stay', () => {
  const { writers, shown } = shownRoom()
  writers.hear(word(0, 'One'))
  vi.advanceTimersByTime(10_000)
  writers.hear(word(0, 'Uno', { run_id: 'r2' }))
  vi.advanceTimersByTime(4_000)
  expect(shown()).toEqual(['r1 One', 'r2 Uno'])
  vi.advanceTimersByTime(2_000)
  expect(shown()).toEqual(['r2 Uno'])
  vi.advanceTimersByTime(10_000)
  expect(shown()).toEqual([])
  vi.useRealTimers()
})

test('the message takes the place of what was written, and words that come after it are not shown', () => {
  const { view, writers, shown } = shownRoom()
  const said = { client_msg_id: 'r1:apology', sender: { id: 'agent:a1', name: 'Guide', role: null, isAgent: true } }
  writers.hear(word(0, 'One'))
  writers.hear(word(0, 'Uno', { run_id: 'r2' }))
  view.change(writers.giveWay(view.told, [said as Message]))
  expect(shown()).toEqual(['r2 Uno'])
  writers.hear(word(3, ' more'))
  expect(shown()).toEqual(['r2 Uno'])
  writers.forget()
  vi.useRealTimers()
})
