import { type KeyboardEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { Member } from '#shared/api/rooms'
import { useClient } from '../connection/client.ts'
import { nameOf } from '../kit/format.ts'
import { useOpenRoom } from '../rooms/room-context.ts'

const shown = 6
const wordBeforeCursor = /(?:^|\s)@([^\s@]{0,40})$/

export interface Mentions {
  found: readonly Member[]
  chosen: number
  look: () => void
  pick: (member: Member) => string
  press: (event: KeyboardEvent, write: (text: string) => void) => boolean
  spansOf: (text: string) => { kind: 'user'; id: string; start: number; len: number }[]
  clear: () => void
}

/** Finds members for the `@word` at the cursor and remembers who was picked. */
export function useMentions(input: {
  text: string
  field: RefObject<HTMLTextAreaElement | null>
  canMention: boolean
}): Mentions {
  const { text, field } = input
  const [word, setWord] = useState<string | null>(null)
  const [chosen, setChosen] = useState(0)
  const members = useMembers(input.canMention && word !== null)
  const picked = useRef(new Map<string, string>())

  const found = word === null ? [] : members.filter((member) => fits(member, word)).slice(0, shown)

  const look = useCallback(() => {
    const cursor = field.current?.selectionStart ?? 0
    const match = wordBeforeCursor.exec(field.current?.value.slice(0, cursor) ?? '')
    setWord(match ? (match[1] ?? '').toLowerCase() : null)
    setChosen(0)
  }, [field])

  const pick = (member: Member) => {
    const cursor = field.current?.selectionStart ?? text.length
    const name = nameOf(member.name, member.user_address)
    picked.current.set(name, member.user_address)
    setWord(null)
    return `${text.slice(0, cursor).replace(/@[^\s@]*$/, `@${name} `)}${text.slice(cursor)}`
  }

  const press: Mentions['press'] = (event, write) => {
    const member = found[chosen]
    if (!member) return false
    if (event.key === 'Enter' || event.key === 'Tab') write(pick(member))
    else if (event.key === 'ArrowDown') setChosen((chosen + 1) % found.length)
    else if (event.key === 'ArrowUp') setChosen((chosen - 1 + found.length) % found.length)
    else if (event.key === 'Escape') setWord(null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const spansOf: Mentions['spansOf'] = (written) =>
    [...picked.current].flatMap(([name, id]) => {
      const start = written.indexOf(`@${name}`)
      return start < 0 ? [] : [{ kind: 'user' as const, id, start, len: name.length + 1 }]
    })

  return { found, chosen, look, pick, press, spansOf, clear: () => picked.current.clear() }
}

function useMembers(isWanted: boolean): readonly Member[] {
  const client = useClient()
  const { live } = useOpenRoom()
  const [members, setMembers] = useState<readonly Member[]>([])
  useEffect(() => {
    if (!isWanted) return
    client.rooms.members({ room: live.ref, limit: 200 }).then(
      (answer) => setMembers(answer.members),
      () => setMembers([]),
    )
  }, [isWanted, client, live])
  return members
}

const fits = (member: Member, word: string): boolean =>
  `${nameOf(member.name, member.user_address)} ${member.username ?? ''}`
    .toLowerCase()
    .split(/\s+/)
    .some((part) => part.startsWith(word))
