import { isWordRune } from './word-runes.ts'

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
