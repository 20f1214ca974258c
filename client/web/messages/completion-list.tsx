import { type KeyboardEvent, type RefObject, useCallback, useRef, useState } from 'react'
import type { Mention } from '#shared/api/rooms/message'
import { AgentFace } from '../agents/agent-face.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { Icon } from '../kit/icon.tsx'
import { type RoomAgent, useRoomAgents } from '../rooms/room-agents.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './completion-list.module.css'
import { type Choice, type Commands, inserted, useChoices, type Word, type Written } from './use-choices.ts'

const wordBeforeCursor = /(?:^|\s)([@#:])([^\s@#:]{0,40})$/
const commandAlone = /^(\/)([a-z]*)$/

interface Completion {
  found: readonly Choice[]
  chosen: number
  look: () => void
  close: () => void
  pick: (choice: Choice) => Written
  press: (event: KeyboardEvent, write: (written: Written) => void) => boolean
  spansOf: (text: string, agents: readonly RoomAgent[]) => Mention[]
  clear: () => void
}

/** Finds suggestions for the word at the cursor, and remembers who was picked. An agent is mentioned by its name alone, too. */
export function useCompletion(input: {
  text: string
  field: RefObject<HTMLTextAreaElement | null>
  canMention: boolean
  commands: Commands
}): Completion {
  const { text, field } = input
  const [word, setWord] = useState<Word | null>(null)
  const [chosen, setChosen] = useState(0)
  const agents = useRoomAgents(input.canMention && text.includes('@'))
  const found = useChoices(word, agents, input.canMention, input.commands)
  const picked = useRef(new Map<string, Pick<Mention, 'kind' | 'id'>>())

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

  const spansOf: Completion['spansOf'] = (written, known) => {
    const ofAgents = known.map(({ id, name }) => [`@${name}`, { kind: 'agent', id }] as const)
    const spans: Mention[] = []
    for (const [words, whom] of [...new Map([...ofAgents, ...picked.current])].sort(longerFirst)) {
      const span = { ...whom, start: placeOf(words, written), len: words.length }
      const isTaken = spans.some(({ start, len }) => start < span.start + span.len && span.start < start + len)
      if (span.start >= 0 && !isTaken) spans.push(span)
    }
    return spans
  }

  return { found, chosen, look, close: () => setWord(null), pick, press, spansOf, clear: () => picked.current.clear() }
}

const longerFirst = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) =>
  other.length - one.length

/** Where the words begin for the first time as words of their own; -1 where they do not. */
function placeOf(words: string, text: string): number {
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const [before = ' ', after = ' '] = [text[at - 1], text[at + words.length]]
    if (!/[\p{L}\p{N}]/u.test(before + after)) return at
  }
  return -1
}

export const completionId = 'completion'
export const choiceId = (at: number): string => `${completionId}-${at}`

export function CompletionList({ completion, onPick }: { completion: Completion; onPick: (choice: Choice) => void }) {
  return (
    <div id={completionId} className={`menu ${styles.completion}`} role="listbox" aria-label={t.composer.suggestions}>
      {completion.found.map((choice, at) => (
        <button
          key={choice.key}
          type="button"
          role="option"
          id={choiceId(at)}
          tabIndex={-1}
          aria-selected={at === completion.chosen}
          onPointerDown={(event) => {
            event.preventDefault()
            onPick(choice)
          }}
        >
          <Sign choice={choice} />
          {choice.title}
          {choice.note && <small>{choice.note}</small>}
        </button>
      ))}
    </div>
  )
}

function Sign({ choice: { sign, title } }: { choice: Choice }) {
  if ('account' in sign) return <Avatar id={sign.account} name={title} size="small" />
  if ('agent' in sign) return <AgentFace emoji={sign.agent} size="small" />
  return 'emoji' in sign ? <span aria-hidden="true">{sign.emoji}</span> : <Icon name={sign.icon} />
}
