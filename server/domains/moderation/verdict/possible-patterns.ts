import {
  contextAfter,
  contextFlags,
  emptyFlags,
  flagsBetween,
  type Instruction,
  isRune,
  newlineRune,
  opCodes,
} from './instructions.ts'
import { beyondUnicode, compiledSet } from './program.ts'
import { isWordRune } from './word-runes.ts'

const wordEdges = emptyFlags.wordBoundary | emptyFlags.noWordBoundary
const allAsked = emptyFlags.beginLine | wordEdges

/** An instruction, its preceding context, and the kind of the next character. */
interface PatternPlace {
  at: number
  context: number
  kind: number
}

/** Can any text match this pattern? If not, it contradicts itself, or requires an impossible character. */
export function isPossiblePattern(source: string): boolean {
  const { dfa, prog } = compiledSet(source)
  const instructions: readonly Instruction[] = prog.inst
  const kinds = kindsOf([0, ...dfa.classBounds], instructions)
  const seen = new Set<string>()
  const open: PatternPlace[] = []
  const goOn = (at: number, context: number, kind: number) => {
    const key = `${at} ${context} ${kind}`
    if (!seen.has(key)) open.push({ at, context, kind })
    seen.add(key)
  }
  const beforeAll = (at: number, context: number) => kinds.forEach((_, kind) => void goOn(at, context, kind))
  for (const context of [contextFlags.start, contextFlags.newline, contextFlags.word, 0]) beforeAll(prog.start, context)
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { at, context, kind } = place
    const instruction = instructions[at]
    const { first, runes } = kinds[kind] ?? end
    if (instruction === undefined) continue
    const { op: does, out, arg } = instruction
    if (does === opCodes.match) return true
    if (isRune(instruction)) {
      if (runes.some((rune) => instruction.matchRune(rune))) beforeAll(out, contextAfter(first, allAsked))
      continue
    }
    if (does === opCodes.alt || does === opCodes.altMatch) goOn(arg, context, kind)
    if (does !== opCodes.emptyWidth || (arg & ~flagsBetween(context, first)) === 0) goOn(out, context, kind)
  }
  return false
}

/** Characters that edges of words and lines do not distinguish: the first valid one of each class. */
interface Kind {
  first: number
  runes: readonly number[]
}

const end: Kind = { first: -1, runes: [] }

function kindsOf(begins: readonly number[], instructions: readonly Instruction[]): Kind[] {
  const asksForWords = instructions.some(({ op: does, arg }) => does === opCodes.emptyWidth && (arg & wordEdges) !== 0)
  const [words, others]: [number[], number[]] = [[], []]
  begins.forEach((from, at) => {
    const until = begins[at + 1] ?? beyondUnicode
    const rune = firstBetween(from, until, isWritable)
    if (rune === null) return
    const isWord = isWordRune(rune)
    const other = asksForWords
      ? firstBetween(rune, until, (each) => isWordRune(each) !== isWord && isWritable(each))
      : null
    ;(isWord ? words : others).push(rune)
    if (other !== null) (isWord ? others : words).push(other)
  })
  const kinds = [words, others, [newlineRune]].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ first, runes: [first, ...more] }],
  )
  return [...kinds, end]
}

// Planes 4 to 13 are empty, and those from 15 contain no word characters.
const [emptyFrom, emptyUntil, privateFrom] = [0x40000, 0xe0000, 0xf0000]

function firstBetween(from: number, until: number, fits: (rune: number) => boolean): number | null {
  for (let rune = from; rune < until; rune += 1) {
    if (fits(rune)) return rune
    if (rune === emptyFrom) rune = emptyUntil - 1
    if (rune === privateFrom) return null
  }
  return null
}

const controls = /[^\P{Cc}\t\n\r]/u

/** Can a text contain it? Texts are well formed, composed and without control characters. */
function isWritable(rune: number): boolean {
  const character = String.fromCodePoint(rune)
  return character.isWellFormed() && !controls.test(character) && character.normalize('NFC') === character
}
