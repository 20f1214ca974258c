import { textDraft } from '#server/domains/moderation/verdict/content'
import { judgeMessage, type SenderFacts } from '#server/domains/moderation/verdict/verdict'
import { compileWords } from '#server/domains/moderation/verdict/words'
import { stateOf } from '#test/support/verdict'
import { median, textOf } from './load.ts'
import { blockedPatterns, blockedWords } from './room.ts'

const length = 200
const texts = Array.from({ length: 1_000 }, (_, at) => textOf(at, length).padEnd(length, '.'))
const times = 20

/** Measures one verdict on a text of 200 characters against the words and patterns of a busy room, none of which match: processor time, so that others on the machine do not count. */
export function verdictMicroseconds(): number {
  const state = busyRoom()
  const slices = Array.from({ length: times }, () => {
    const before = process.cpuUsage()
    for (const text of texts)
      if (!judgeMessage(textDraft('text', text), state).verdict.ok) throw new Error('A plain text was refused')
    const { user, system } = process.cpuUsage(before)
    return (user + system) / texts.length
  })
  return median(slices.slice(times / 2))
}

function busyRoom(): SenderFacts {
  const rule = { scope: 'room', action: 'block' } as const
  const words = blockedWords.map((word) => ({ ...rule, id: word, word, is_regex: false }))
  const patterns = blockedPatterns.map((word) => ({ ...rule, id: word, word, is_regex: true }))
  return stateOf({ words: [compileWords([...words, ...patterns])] })
}
