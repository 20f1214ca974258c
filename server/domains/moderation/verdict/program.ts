import { RE2JS, RE2Set } from 're2js'
import { normalized } from '#shared/kit/looks'
import type { Machine } from './automaton.ts'

/** The first plane: 0 unknown, 1 no, 2 yes. */
const known = new Uint8Array(0x10000)
const word = /[\p{L}\p{M}\p{Nl}\p{Nd}\p{Pc}]/u

/** Is it a word character: a letter, mark, digit, or connector such as `_`? The edges of a text are not. */
export function isWordRune(rune: number): boolean {
  if (rune < 0) return false
  if (rune >= known.length) return word.test(String.fromCodePoint(rune))
  known[rune] ||= word.test(String.fromCharCode(rune)) ? 2 : 1
  return known[rune] === 2
}

// Instructions of re2js, and the conditions of empty ones. They are internal to it: the version is exact, and a test
// compares each kind of pattern with the engine.
export const opCodes = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  match: 6,
  nop: 7,
  firstRune: 8,
  lastRune: 11,
} as const
export const emptyFlags = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const

export interface Instruction {
  op: number
  out: number
  arg: number
  runes: Int32Array
  matchRune(rune: number): boolean
}

/** The preceding context, as far as the pattern needs it. */
export const contextFlags = { start: 1, newline: 2, word: 4 } as const

export const newlineRune = 10

export const isRune = ({ op: kind }: Instruction): boolean => kind >= opCodes.firstRune && kind <= opCodes.lastRune

/** The empty instructions that hold between the context and this character, -1 at the end. */
export function flagsBetween(context: number, rune: number): number {
  let flags = 0
  if (context & contextFlags.start) flags |= emptyFlags.beginText | emptyFlags.beginLine
  if (context & contextFlags.newline) flags |= emptyFlags.beginLine
  if (rune === newlineRune) flags |= emptyFlags.endLine
  if (rune < 0) flags |= emptyFlags.endText | emptyFlags.endLine
  const changes = isWordRune(rune) !== ((context & contextFlags.word) !== 0)
  return flags | (changes ? emptyFlags.wordBoundary : emptyFlags.noWordBoundary)
}

export function contextAfter(rune: number, asked: number): number {
  if (rune === newlineRune && asked & emptyFlags.beginLine) return contextFlags.newline
  return isWordRune(rune) && asked & (emptyFlags.wordBoundary | emptyFlags.noWordBoundary) ? contextFlags.word : 0
}

const letters = ['L', 'M', 'Nl']
const categories = [...letters, 'Nd', 'Pc', 'No', 'Pd', 'Ps', 'Pe', 'Pi', 'Pf', 'Po', 'S', 'Z', 'C']
/** Classes that the engine limits to ASCII, for every script; `word` is the class of `\b`. */
const patternSourceKnown: Readonly<Record<string, readonly string[]>> = {
  alpha: letters,
  alnum: [...letters, 'Nd'],
  word: [...letters, 'Nd', 'Pc'],
}

const itemsOf = (name: string, isOther: boolean): string => {
  const meant = patternSourceKnown[name] ?? []
  return (isOther ? categories.filter((one) => !meant.includes(one)) : meant).map((one) => `\\p{${one}}`).join('')
}

const parts = /\\Q.*?(?:\\E|$)|\\.|\[:(\^?)(\w+):\]|\[\^?\]?|\]/gsu

/**
 * The engine's source of a pattern: composed (NFC) as texts are. `\w`, `\W` and classes such as `[[:alpha:]]` mean
 * letters of every script.
 */
export function enginesSource(source: string): string {
  let isInClass = false
  return normalized(source, 'NFC').replace(parts, (part, not: string | undefined, name: string | undefined) => {
    if (name !== undefined) return isInClass && name in patternSourceKnown ? itemsOf(name, not === '^') : part
    if (part === '\\w' || part === '\\W') {
      const items = itemsOf('word', part === '\\W')
      return isInClass ? items : `[${items}]`
    }
    if (part.startsWith('[')) isInClass = true
    else if (part === ']') isInClass = false
    return part
  })
}

export interface Program extends Machine {
  /** The symbol of a character; characters that the pattern does not distinguish share one. */
  symbolOf(codePoint: number): number
  /** The first character of each symbol. */
  firsts: readonly number[]
  /** The symbol after the last character. */
  end: number
}

// The cost of an edge besides its instructions.
const stepsOfEdge = 40
const stepsOfInstruction = 4

/** The engine's program of these patterns. */
export function compiledSet(...sources: readonly string[]): RE2Set {
  const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE)
  for (const source of sources) set.add(enginesSource(source))
  set.compile()
  return set
}

/**
 * Patterns as one machine, which finds their indexes. Its places are the active instructions, then the context. The
 * engine's own search has neither a cost nor a stop.
 */
export function programOf(...sources: readonly string[]): Program {
  const set = compiledSet(...sources)
  const { dfa } = set
  const { start } = set.prog
  const instructions: readonly Instruction[] = set.prog.inst
  const size = instructions.length
  const asked = instructions.reduce(
    (flags, { op: kind, arg }) => (kind === opCodes.emptyWidth ? flags | arg : flags),
    0,
  )
  const { kinds, kindOf } = kindsOf(instructions)
  const fitting: Uint8Array[] = []
  const { firsts, symbolOf } = symbolsOf(dfa, (asked & (emptyFlags.wordBoundary | emptyFlags.noWordBoundary)) !== 0)
  const end = firsts.length

  /** The kinds of character instructions that accept this symbol. */
  const fittingOf = (symbol: number): Uint8Array => {
    fitting[symbol] ??= Uint8Array.from(kinds, (kind) => (symbol < end && kind.matchRune(firsts[symbol] ?? 0) ? 1 : 0))
    return fitting[symbol]
  }

  const seen = new Uint8Array(size)
  const next = new Uint8Array(size)
  const stack = new Uint16Array(size * 3 + 2)
  const held = (context: number): string => {
    const places: number[] = []
    for (let at = 0; at < size; at += 1) if (next[at] === 1) places.push(at)
    places.push(context)
    return String.fromCharCode(...places)
  }

  return {
    end,
    firsts,
    symbolOf,
    start: String.fromCharCode(contextFlags.start),
    wanted: sources.length,
    advance(from, symbol) {
      const context = from.charCodeAt(from.length - 1)
      const rune = firsts[symbol] ?? -1
      const holding = flagsBetween(context, rune)
      const fits = fittingOf(symbol)
      seen.fill(0)
      next.fill(0)
      let depth = 0
      let looked = 0
      const found: number[] = []
      for (let at = from.length - 2; at >= 0; at -= 1) stack[depth++] = from.charCodeAt(at)
      stack[depth++] = start
      while (depth > 0) {
        const at = stack[--depth] ?? 0
        if (seen[at] === 1) continue
        seen[at] = 1
        looked += 1
        const instruction = instructions[at]
        if (instruction === undefined) continue
        const { op: kind, out, arg } = instruction
        if (isRune(instruction)) {
          if (fits[kindOf[at] ?? 0] === 1) next[out] = 1
        } else if (kind === opCodes.match) found.push(arg)
        else if (kind === opCodes.alt || kind === opCodes.altMatch) {
          stack[depth++] = out
          stack[depth++] = arg
        } else if (
          kind === opCodes.capture ||
          kind === opCodes.nop ||
          (kind === opCodes.emptyWidth && (arg & ~holding) === 0)
        )
          stack[depth++] = out
      }
      const steps = stepsOfEdge + size + kinds.length + looked * stepsOfInstruction
      return { places: held(contextAfter(rune, asked)), found, steps }
    },
  }
}

export const beyondUnicode = 0x110000

/**
 * One symbol for each character class of the engine. The engine knows ASCII words only. If a pattern asks for word
 * edges, each class is split into word characters and others. `\b` thus works in every script.
 */
function symbolsOf(dfa: { classBounds: Int32Array; runeClass(rune: number): number }, asksForWords: boolean) {
  const begins = [0, ...dfa.classBounds]
  if (!asksForWords) return { firsts: begins, symbolOf: (codePoint: number) => dfa.runeClass(codePoint) }
  const firsts: number[] = []
  const symbols = new Uint16Array(begins.length * 2)
  begins.forEach((from, at) => {
    for (const isWord of [false, true]) {
      const first = firstBetween(from, begins[at + 1] ?? beyondUnicode, isWord)
      if (first !== null) symbols[at * 2 + Number(isWord)] = firsts.push(first) - 1
    }
  })
  const symbolOf = (codePoint: number) =>
    symbols[dfa.runeClass(codePoint) * 2 + Number(isWordRune(codePoint))] as number
  return { firsts, symbolOf }
}

function firstBetween(from: number, until: number, isWord: boolean): number | null {
  for (let rune = from; rune < until; rune += 1) if (isWordRune(rune) === isWord) return rune
  return null
}

/** Instructions that accept the same characters share a kind. */
function kindsOf(instructions: readonly Instruction[]) {
  const kinds: Instruction[] = []
  const known = new Map<string, number>()
  const kindOf = Uint16Array.from(instructions, (instruction) => {
    if (!isRune(instruction)) return 0
    const key = `${instruction.arg} ${instruction.runes.join()}`
    const kind = known.get(key) ?? kinds.push(instruction) - 1
    known.set(key, kind)
    return kind
  })
  return { kinds, kindOf }
}
