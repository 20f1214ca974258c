import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '#shared/errors'
import type { Model, Part, Question, ToolCall } from './port.ts'
import { type ReadPrompt, readPrompt } from './scripted-hearing.ts'
import { argumentsFor, pickTool } from './scripted-tools.ts'

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
