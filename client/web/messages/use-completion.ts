import { type KeyboardEvent, type RefObject, useCallback, useRef, useState } from 'react'
import { type Choice, type Commands, inserted, useChoices, type Word, type Written } from './use-choices.ts'

const wordBeforeCursor = /(?:^|\s)([@#:])([^\s@#:]{0,40})$/
const commandAlone = /^(\/)([a-z]*)$/

export interface Completion {
  found: readonly Choice[]
  chosen: number
  look: () => void
  close: () => void
  pick: (choice: Choice) => Written
  press: (event: KeyboardEvent, write: (written: Written) => void) => boolean
  spansOf: (text: string) => { kind: 'user'; id: string; start: number; len: number }[]
  clear: () => void
}

/** Finds suggestions for the word at the cursor, and remembers the people who were picked. */
export function useCompletion(input: {
  text: string
  field: RefObject<HTMLTextAreaElement | null>
  canMention: boolean
  commands: Commands
}): Completion {
  const { text, field } = input
  const [word, setWord] = useState<Word | null>(null)
  const [chosen, setChosen] = useState(0)
  const found = useChoices(word, input.canMention, input.commands)
  const picked = useRef(new Map<string, string>())

  const look = useCallback(() => {
    const before = field.current?.value.slice(0, field.current.selectionStart) ?? ''
    const [, sign, rest = ''] = commandAlone.exec(before) ?? wordBeforeCursor.exec(before) ?? []
    setWord(sign ? { sign, rest: rest.toLowerCase() } : null)
    setChosen(0)
  }, [field])

  const pick = ({ words, names, act }: Choice) => {
    const cursor = field.current?.selectionStart ?? text.length
    if (names !== undefined) picked.current.set(words.trim(), names)
    setWord(null)
    act?.()
    const [begun = ''] = /[@#:/][^\s@#:]*$/.exec(text.slice(0, cursor)) ?? []
    return inserted({ text, cursor }, words, begun.length)
  }

  const press: Completion['press'] = (event, write) => {
    const choice = found[chosen]
    if (!choice) return false
    if (event.key === 'Enter' || event.key === 'Tab') write(pick(choice))
    else if (event.key === 'ArrowDown') setChosen((chosen + 1) % found.length)
    else if (event.key === 'ArrowUp') setChosen((chosen - 1 + found.length) % found.length)
    else if (event.key === 'Escape') setWord(null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const spansOf: Completion['spansOf'] = (written) =>
    [...picked.current].flatMap(([words, id]) => {
      const start = written.indexOf(words)
      return start < 0 ? [] : [{ kind: 'user' as const, id, start, len: words.length }]
    })

  return { found, chosen, look, close: () => setWord(null), pick, press, spansOf, clear: () => picked.current.clear() }
}
