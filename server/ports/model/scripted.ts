import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '#shared/errors'
import { stemsOf } from './local-embedder.ts'
import type { Model, ModelTool, Part, Question, ToolCall, Turn } from './port.ts'

const orders = ['fail', 'break', 'stall', 'endless', 'call'] as const

interface ReadPrompt {
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

/** What a prompt says, read as a model would: see `server/domains/agents/runs/tool-rounds.ts`. */
function readPrompt(turns: readonly Turn[]): ReadPrompt {
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

const sharedWith = (wanted: ReadonlySet<string>, text: string): number =>
  new Set(stemsOf(text).filter((stem) => wanted.has(stem))).size

/** The tool whose name, description and parameters have most in common with the message; none where nothing speaks for one. */
function pickTool(tools: readonly ModelTool[], message: string): ModelTool | null {
  const wanted = new Set(stemsOf(message))
  const rated = tools.map((tool) => {
    const named = sharedWith(wanted, tool.name.replace(/[_-]/g, ' ').replace(/(?<=[a-z])(?=[A-Z])/g, ' '))
    const parameters = Object.keys(propertiesOf(tool.parameters)).join(' ')
    return { tool, score: 2 * named + sharedWith(wanted, `${tool.description} ${parameters}`) }
  })
  const [best] = rated.sort((one, other) => other.score - one.score)
  return best && best.score >= 2 ? best.tool : null
}

/** Arguments that a schema asks for, as far as a message has them. */
function argumentsFor(schema: Readonly<Record<string, unknown>>, message: string): Record<string, unknown> {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = Object.entries(propertiesOf(schema))
  // Where nothing is required, the first is most likely what the tool is about.
  const wanted = properties.filter(([name], at) => (required.length > 0 ? required.includes(name) : at === 0))
  return Object.fromEntries(wanted.map(([name, property]) => [name, valueFor(property, message)]))
}

function valueFor(property: Readonly<Record<string, unknown>>, message: string): unknown {
  if (Array.isArray(property.enum))
    return (
      property.enum.find((value) => message.toLowerCase().includes(String(value).toLowerCase())) ?? property.enum[0]
    )
  if (property.type === 'integer' || property.type === 'number') {
    const found = Number(/-?\d+(\.\d+)?/.exec(message)?.[0] ?? property.minimum ?? 1)
    return property.type === 'integer' ? Math.trunc(found) : found
  }
  if (property.type === 'boolean') return true
  if (property.type === 'array') return isSchema(property.items) ? [valueFor(property.items, message)] : []
  if (property.type === 'object') return argumentsFor(property, message)
  const quoted = /["“«']([^"”»']+)["”»']/.exec(message)?.[1] ?? message
  return typeof property.maxLength === 'number' ? quoted.slice(0, property.maxLength) : quoted
}

function propertiesOf(schema: Readonly<Record<string, unknown>>): Record<string, Readonly<Record<string, unknown>>> {
  if (!isSchema(schema.properties)) return {}
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [name, isSchema(property) ? property : {}]),
  )
}

const isSchema = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Pace {
  wordMilliseconds: number
  /** How long a stall lasts, where nobody ends it before. */
  stallMilliseconds: number
}

const human: Pace = { wordMilliseconds: 45, stallMilliseconds: 30_000 }

/**
 * Answers without a model: equal questions get equal answers. It says that it is a script, quotes its knowledge, and calls an
 * offered tool. Messages that begin with `/fail`, `/break`, `/stall`, `/endless` or `/call <tool> <JSON>` make it do so.
 */
export const scriptedModel = (pace: Partial<Pace> = {}): Model => {
  const { wordMilliseconds, stallMilliseconds } = { ...human, ...pace }
  return {
    name: 'scripted',
    isScripted: true,
    async *answer(question, signal) {
      signal.throwIfAborted()
      const heard = readPrompt(question.turns)
      if (heard.order === 'fail') throw brokenOff()
      const call = callFor(question, heard)
      if (call) return yield* asked(call, question)
      let words = 0
      for (const word of wordsOf(heard, question)) {
        if (words >= question.maxOutputTokens) return yield end(question, words, 'length')
        await wait(wordMilliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
        yield { type: 'text', text: words === 0 ? word : ` ${word}` }
        words++
        signal.throwIfAborted()
        if (heard.order === 'break' && words === 8) throw brokenOff()
        if (heard.order === 'stall' && words === 8) {
          await wait(stallMilliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
          throw new AppError('TIMEOUT')
        }
      }
      yield end(question, words, 'stop')
    },
  }
}

const brokenOff = () => new AppError('UPSTREAM_ERROR', { cause: new Error('The scripted model was told to') })

/** Every question asks for one tool at most, and not again for what it has the result of. */
function callFor({ tools = [], called = [] }: Question, { order, rest, message }: ReadPrompt): ToolCall | null {
  if (called.length > 0) return null
  if (order === 'call') {
    const [, name = '', given = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? []
    return { id: 'call_1', name, arguments: given || '{}' }
  }
  const tool = order === null ? pickTool(tools, message) : null
  return tool && { id: 'call_1', name: tool.name, arguments: JSON.stringify(argumentsFor(tool.parameters, message)) }
}

function* asked(call: ToolCall, question: Question): Generator<Part> {
  yield { type: 'call', call }
  yield end(question, 1, 'calls')
}

const end = ({ turns }: Question, outputTokens: number, reason: 'stop' | 'length' | 'calls'): Part => ({
  type: 'end',
  reason,
  inputTokens: turns.reduce((sum, { content }) => sum + content.split(/\s+/).length, 0),
  outputTokens,
})

function* wordsOf(heard: ReadPrompt, question: Question): Generator<string> {
  if (heard.order === 'endless') while (true) yield* 'and so it goes on, as I was told to,'.split(' ')
  yield* textOf(heard, question).split(' ')
}

const longest = 280

function textOf({ name, order, message, quotes, notes, count }: ReadPrompt, { called = [] }: Question): string {
  const told = called.map(({ call, result }) => `The tool ${call.name} answered: ${excerpt(unwrapped(result))}`)
  const noted = notes.map((note) => `I was told: ${excerpt(note)}`)
  const quoted = quotes.map(({ text, number }) => `“${text}” [${number}]`)
  const found = [...told, ...noted, ...quoted]
  if (order !== null && order !== 'call')
    return `I was told to ${order}, so I begin, go on for a while, and stop in the midst of it.`
  if (found.length > 0) return `${quoted.length > 0 ? 'This is what I know of it. ' : ''}${found.join('\n\n')}`
  const who = `I am ${name}. No model is configured here: a script answers in its place.`
  if (/^\W*(hi|hello|hey|good (morning|evening|day))\b/i.test(message)) return `Hello! ${who} Ask me something.`
  if (/\bthank(s| you)\b/i.test(message)) return `You are welcome. ${who}`
  const which = count > 1 ? ` It is message ${count} of this conversation.` : ''
  return `${who} You wrote: “${excerpt(message)}”${which} I have found nothing about it in what I know.`
}

const unwrapped = (text: string) => text.replace(/⟦\/?\w+⟧/g, '')

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= longest ? line : `${[...line].slice(0, longest).join('')}…`
}
