import { isWordRune } from './word-runes.ts'

// Instructions of re2js, and the conditions of empty ones. They are internal to it: the version is exact, and a test
// compares each kind of pattern with the engine.
export const op = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  match: 6,
  nop: 7,
  firstRune: 8,
  lastRune: 11,
} as const
export const empty = {
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
export const before = { start: 1, newline: 2, word: 4 } as const

export const newline = 10

export const isRune = ({ op: kind }: Instruction): boolean => kind >= op.firstRune && kind <= op.lastRune

/** The empty instructions that hold between the context and this character, -1 at the end. */
export function holds(context: number, rune: number): number {
  let flags = 0
  if (context & before.start) flags |= empty.beginText | empty.beginLine
  if (context & before.newline) flags |= empty.beginLine
  if (rune === newline) flags |= empty.endLine
  if (rune < 0) flags |= empty.endText | empty.endLine
  const changes = isWordRune(rune) !== ((context & before.word) !== 0)
  return flags | (changes ? empty.wordBoundary : empty.noWordBoundary)
}

export function contextAfter(rune: number, asked: number): number {
  if (rune === newline && asked & empty.beginLine) return before.newline
  return isWordRune(rune) && asked & (empty.wordBoundary | empty.noWordBoundary) ? before.word : 0
}
