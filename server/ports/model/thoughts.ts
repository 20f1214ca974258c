interface Mark {
  opens: string
  closes: string
}

const tags = ['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'seed:think']
/** The channels of gpt-oss before the last are thoughts. Text after the last one's end is not part of the answer. */
const channels: readonly Mark[] = ['<|channel|>', '<|start|>'].map((opens) => ({
  opens,
  closes: '<|channel|>final<|message|>',
}))
const channelEnds = ['<|end|>', '<|return|>', '<|call|>']
/** How models mark what they think before they answer, where their server does not keep it apart; in lower case. */
const marks: readonly Mark[] = [
  ...tags.map((name) => ({ opens: `<${name}>`, closes: `</${name}>` })),
  { opens: '[think]', closes: '[/think]' },
  { opens: '◁think▷', closes: '◁/think▷' },
  { opens: '<|begin_of_thought|>', closes: '<|end_of_thought|>' },
  { opens: '<|start_thinking|>', closes: '<|end_thinking|>' },
  { opens: '<unused94>', closes: '<unused95>' },
  { opens: '<|channel>', closes: '<channel|>' },
  ...channels,
]
/** How Qwen, Llama, Mistral and DeepSeek write calls of tools, where their server does not read them; in lower case. */
const calls: readonly Mark[] = [
  { opens: '<tool_call>', closes: '</tool_call>' },
  { opens: '<|python_tag|>', closes: '<|eom_id|>' },
  { opens: '[tool_calls]', closes: '</s>' },
  { opens: '<｜tool▁calls▁begin｜>', closes: '<｜tool▁calls▁end｜>' },
]
const callSigns = calls.map(({ opens }) => opens)
const lineMarks = [...marks, ...calls]
/** Behind its mark a call goes on by JSON, another mark or the name of the tool. */
const callBegins = /^(?:\s*(?:\{|\[\s*\{|<(?!\/))|[\w.-]{1,64}(?:\(|\s*[[{<]))/
/** What may still go on so. */
const callMayBegin = /^(?:\s*(?:<|\[\s*)?|[\w.-]{1,64}\s*)$/
/** Once a model has marked a thought, others may begin within a line. */
const opened = marks.filter((mark) => !channels.includes(mark))
const closers = [...new Set(marks.map(({ closes }) => closes))]
const fences = ['```', '~~~']

/** What a piece adds to the answer, after removing so many code units that became a thought. */
interface Read {
  unsaid: number
  said: string
}

interface Reading {
  /** What a text comes to, of which pieces come in order. */
  (piece: string): Read
  /** What was held back as it might have been the beginning of a mark. */
  rest(): string
  /** So many calls of tools were left out. */
  calls(): number
}

/**
 * Removes a model's thoughts from an answer, however it is cut into pieces. The first comes before the answer, or on a line
 * of its own, others anywhere. A mark that is never closed is a word of the answer, and so is one within code. If the
 * prompt had the opening mark, the closing one removes the text before it. Calls of tools go too; one without an end is the
 * rest of the answer.
 */
export function withoutThoughts(): Reading {
  let held = ''
  let said = ''
  /** How much was said by earlier pieces. */
  let before = 0
  let unsaid = 0
  let mark: Mark | null = null
  /** Within a thought: how far `held` was read, how many marks are open, and where the last one was closed. */
  let from = 0
  let depth = 0
  let after = -1
  /** Has nothing been said yet, so that a thought without an end is the whole answer? */
  let isFirst = true
  let isLineStart = true
  let isAfterThought = false
  /** Does the answer so far end in a space, so that the one after a thought is left out? */
  let isSpaced = true
  let hasThought = false
  let hasChannels = false
  let callsLeftOut = 0
  let isCode = false
  /** Signs of code in the line so far. */
  let ticks = 0

  const read = (piece: string): Read => {
    held += piece
    said = ''
    unsaid = 0
    for (let goesOn = true; goesOn; )
      goesOn = mark === null ? outside() : calls.includes(mark) ? withinCall(mark) : within(mark)
    before += said.length
    return { unsaid, said }
  }

  /** Says the answer up to where a thought may begin; false where more must come first. */
  function outside(): boolean {
    if (held === '') return false
    if (!isLineStart) return upToLine()
    const line = held.slice(/^[^\S\n]*/.exec(held)?.[0].length ?? 0)
    const begun = [...(isCode ? [] : lineMarks.map(({ opens }) => opens)), ...fences]
    if (line !== '' && begun.some((sign) => sign.length > line.length && beginsWith(sign, line))) return false
    const opened = isCode ? undefined : lineMarks.find(({ opens }) => beginsWith(line.slice(0, opens.length), opens))
    if (opened) {
      mark = opened
      return true
    }
    if (fences.some((fence) => line.startsWith(fence))) isCode = !isCode
    return upToLine()
  }

  function upToLine(): boolean {
    const end = held.indexOf('\n') + 1
    const line = end === 0 ? held : held.slice(0, end)
    const begins = hasThought ? opened.map(({ opens }) => opens) : closers
    const signs = isCode ? [] : hasChannels ? channelEnds : [...begins, ...callSigns]
    const sign = signIn(line, signs)
    const call = calls.find(({ opens }) => opens === sign?.text)
    if (sign && !call && !hasChannels && !hasThought) {
      unsaid += before
      before = 0
      said = ''
      isFirst = true
      isSpaced = true
      closed(sign.end, isOfChannels(sign.text))
      return true
    }
    if (sign) mark = call ?? opened.find(({ opens }) => !hasChannels && opens === sign.text) ?? channels[0] ?? null
    const taken = line.slice(0, sign?.at ?? line.length - (end === 0 ? begunAtEnd(line, signs) : 0))
    if (taken === '') return sign !== null
    say(taken)
    return true
  }

  /** Says the beginning of what is held, which ends no later than its line. */
  function say(taken: string): void {
    held = held.slice(taken.length)
    isLineStart = taken.endsWith('\n') || (isLineStart && taken.trim() === '')
    ticks = taken.endsWith('\n') ? 0 : ticks + ticksIn(taken)
    const words = isAfterThought ? taken.trimStart() : taken
    if (words.trim() !== '') isFirst = false
    if (words !== '') {
      isAfterThought = false
      isSpaced = /\s$/.test(words)
    }
    said += words
  }

  /** The first of these signs that is not within code. */
  function signIn(line: string, signs: readonly string[]) {
    if (signs.length === 0) return null
    for (const found of line.matchAll(anyOf(signs))) {
      if ((ticks + ticksIn(line.slice(0, found.index))) % 2 === 1) continue
      const text = found[0].toLowerCase()
      return { at: found.index, end: found.index + text.length, text }
    }
    return null
  }

  /** A thought up to its end; false where that must come first. */
  function within({ opens, closes }: Mark): boolean {
    const isChannel = isOfChannels(closes)
    const signs = anyOf(isChannel ? [closes] : [opens, closes])
    signs.lastIndex = from
    for (let sign = signs.exec(held); sign; sign = signs.exec(held)) {
      from = signs.lastIndex
      if (sign[0].toLowerCase() === opens) depth++
      else {
        depth--
        after = from
      }
      if (depth > 0) continue
      closed(from, isChannel)
      return true
    }
    from = Math.max(from, held.length - opens.length - closes.length)
    return false
  }

  /** A call up to its end; false where that must come first. A mark behind which no call goes on is a word of the answer. */
  function withinCall({ opens, closes }: Mark): boolean {
    const start = endOfMark(opens)
    const body = held.slice(start)
    if (callMayBegin.test(body)) return false
    if (!callBegins.test(body)) {
      mark = null
      say(held.slice(0, start))
      return true
    }
    const ends = anyOf([closes])
    ends.lastIndex = Math.max(start, from)
    if (ends.exec(held) === null) {
      from = held.length - closes.length
      return false
    }
    callsLeftOut++
    goOnAt(ends.lastIndex)
    return true
  }

  function closed(at: number, isChannel: boolean): void {
    hasThought = true
    hasChannels = isChannel
    after = -1
    goOnAt(at)
  }

  /** Reads on behind what is no part of the answer. */
  function goOnAt(at: number): void {
    held = held.slice(at)
    mark = null
    from = 0
    depth = 0
    isLineStart = true
    isAfterThought = isSpaced
    ticks = 0
  }

  const endOfMark = (opens: string): number => held.search(anyOf([opens])) + opens.length

  return Object.assign(read, {
    calls: () => callsLeftOut,
    rest(): string {
      const isCall = mark !== null && calls.includes(mark)
      if (mark !== null && isCall && callBegins.test(held.slice(endOfMark(mark.opens)))) {
        callsLeftOut++
        held = ''
      }
      const isThought = mark !== null && !isCall && (isFirst || isOfChannels(mark.closes))
      // A thought that speaks of its mark has opened more than it closes.
      const left = after >= 0 ? held.slice(after).trimStart() : isThought ? '' : held
      held = ''
      return left
    },
  })
}

const isOfChannels = (closes: string): boolean => channels.some((one) => one.closes === closes)
const beginsWith = (text: string, start: string): boolean => text.toLowerCase().startsWith(start.toLowerCase())
const ticksIn = (text: string): number => text.split('`').length - 1
const anyOf = (signs: readonly string[]): RegExp =>
  new RegExp(signs.map((sign) => sign.replace(/[|[\]]/g, '\\$&')).join('|'), 'gi')

/** How many of the last characters may begin one of these signs. */
function begunAtEnd(text: string, signs: readonly string[]): number {
  const longest = Math.max(0, ...signs.map((sign) => sign.length - 1))
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (signs.some((sign) => beginsWith(sign, text.slice(-length)) && sign.length > length)) return length
  return 0
}
