import { RE2JS, RE2Set } from 're2js'
import type { Machine } from './automaton.ts'
import {
  contextAfter,
  contextFlags,
  emptyFlags,
  flagsBetween,
  type Instruction,
  isRune,
  opCodes,
} from './instructions.ts'
import { enginesSource } from './pattern-source.ts'
import { isWordRune } from './word-runes.ts'

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
