import { stemsOf } from './local-embedder.ts'
import type { Turn } from './port.ts'

const orders = ['fail', 'break', 'stall', 'endless', 'call'] as const

export interface ReadPrompt {
  /** Whom the instructions make of it. */
  name: string
  /** The last message, without what was fetched for it. */
  message: string
  order: (typeof orders)[number] | null
  /** The text after the order. */
  rest: string
  /** Sentences of passages that speak of what the message does, with the number of their passage. */
  quotes: readonly { text: string; number: number }[]
  notes: readonly string[]
  /** How many messages of the user there are, with this one. */
  count: number
}

/** What a prompt says, read as a model would: see `server/domains/agents/runs/prompt.ts`. */
export function readPrompt(turns: readonly Turn[]): ReadPrompt {
  const ofUser = turns.filter(({ role }) => role === 'user')
  const { knowledge, notes, message } = parted(ofUser.at(-1)?.content ?? '')
  const [, order = null, rest = ''] = new RegExp(`^\\s*/(${orders.join('|')})\\b\\s*([\\s\\S]*)$`).exec(message) ?? []
  const instructions = turns.find(({ role }) => role === 'system')?.content ?? ''
  return {
    name: /\bYou are ([^,.\n]{1,100})/.exec(instructions)?.[1]?.trim() ?? 'a scripted assistant',
    message,
    order: orders.find((known) => known === order) ?? null,
    rest,
    quotes: quotesFor(message, knowledge),
    notes,
    count: ofUser.length,
  }
}

function parted(content: string) {
  const knowledge: string[] = []
  const notes: string[] = []
  const message = content.replace(/⟦(knowledge|tool)⟧\n([\s\S]*?)\n⟦\/\1⟧\s*/g, (_all, kind: string, text: string) => {
    ;(kind === 'knowledge' ? knowledge : notes).push(text)
    return ''
  })
  return { knowledge, notes, message: message.trim() }
}

const mostQuotes = 2

/** The sentences that have most in common with the message, one of each passage. */
function quotesFor(message: string, knowledge: readonly string[]): ReadPrompt['quotes'] {
  const wanted = new Set(stemsOf(message))
  const passages = knowledge.flatMap((text) => text.split(/\n\n(?=\[\d+\] )/))
  const best = passages.flatMap((passage) => {
    const [, number, title = '', body = ''] = /^\[(\d+)\] ([^\n]*)\n([\s\S]*)$/.exec(passage) ?? []
    if (number === undefined) return []
    // Words of the title distinguish its sentences less.
    const telling = new Set([...wanted].filter((stem) => !stemsOf(title).includes(stem)))
    const shared = (text: string) => sharedWith(wanted, text) + sharedWith(telling, text)
    const sentences = body.split(/(?<=[.!?])\s+|\n{2,}/).map((text) => text.replace(/\s+/g, ' ').trim().slice(0, 400))
    const rated = sentences.map((text) => ({ text, number: Number(number), shared: shared(text) }))
    return rated
      .filter(({ text }) => text !== '')
      .sort((one, other) => other.shared - one.shared)
      .slice(0, 1)
  })
  const sorted = best.sort((one, other) => other.shared - one.shared || one.number - other.number)
  // A search found all passages, so the first is used even if no word is shared.
  return sorted.filter(({ shared }, at) => shared > 0 || at === 0).slice(0, mostQuotes)
}

export const sharedWith = (wanted: ReadonlySet<string>, text: string): number =>
  new Set(stemsOf(text).filter((stem) => wanted.has(stem))).size
