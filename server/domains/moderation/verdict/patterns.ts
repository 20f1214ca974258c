import { RE2JS } from 're2js'
import { stepsOfAText } from '#shared/kit/budgets'
import { longestMessage } from '#shared/kit/lengths'
import { automaton, type Budget, spend } from './automaton.ts'
import {
  beyondUnicode,
  compiledSet,
  contextAfter,
  contextFlags,
  emptyFlags,
  enginesSource,
  flagsBetween,
  type Instruction,
  isRune,
  isWordRune,
  newlineRune,
  opCodes,
  type Program,
  programOf,
} from './program.ts'

const wordEdges = emptyFlags.wordBoundary | emptyFlags.noWordBoundary
const allAsked = emptyFlags.beginLine | wordEdges

/** An instruction, its preceding context, and the kind of the next character. */
interface PatternPlace {
  at: number
  context: number
  kind: number
}

/** Can any text match this pattern? If not, it contradicts itself, or requires an impossible character. */
function isPossiblePattern(source: string): boolean {
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

const prose = [
  'the quick brown fox had sold its coins and would like to buy a house near the lake but nobody knows why it is free now',
  'click here if you want to get more money today and win your first prize with our new account for all of us in 2026',
  'function return const await (value) => { if (index < 10) items[index] += value; } // https://example.com/a?b=c&d=1',
  'съешь ещё этих мягких французских булок да выпей же чаю сегодня вечером и купи немного монет',
  'le vif renard brun saute par-dessus le chien paresseux où l’été s’achève à noël',
  'zwölf boxkämpfer jagen viktor quer über den großen sylter deich und kaufen schöne äpfel',
  '今日は かなり寒い ですね 天気が良い から 散歩しよう 我们 明天 去 北京 买 东西 吗',
  'اشترى الرجل بيتا قرب البحيرة و لا أحد يعرف لماذا',
  '😀 👍🏽 ❤️ 🎉 :) ... !!! @ann #news 12:30 +49 $100 50%',
].flatMap((text) => text.split(' '))

/** The texts on which a pattern is tried: prose of several languages, and shuffled letters and signs. */
export const trialTexts: readonly Uint32Array[] = [
  textOf(prose.map((word) => `${word} `)),
  textOf([...'abcdefghijklmnopqrstuvwxyz    ']),
  textOf([...'ab']),
  textOf([...'0123456789.,:-+()/ \n']),
]

/** A deterministic text as long as the longest message, of shuffled pieces. */
function textOf(pieces: readonly string[]): Uint32Array {
  let state = 7
  const codePoints: number[] = []
  while (codePoints.length < longestMessage) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    for (const character of pieces[(state >>> 8) % pieces.length] ?? '') codePoints.push(character.codePointAt(0) ?? 0)
  }
  return Uint32Array.from(codePoints)
}

export const patternLimits = { characters: 200, programSize: 200, perList: 20, programSizePerList: 1000 } as const

interface Pattern {
  readonly id: string
  /** The source of the pattern. */
  readonly word: string
}
type PatternCheck = { ok: true; programSize: number } | { ok: false; reason: string }
/** Called for each unusable word, with the reason. */
export type OnLeftOut = (id: string, reason: string) => void

// Two full lists leave half of a usual text's budget for the rest.
const trialStepsPerList = stepsOfAText / 4
const trialStepsPerPattern = trialStepsPerList / 4
/** The most steps of trying one pattern, which the check before it does not exceed. */
export const stepsOfTrial = trialStepsPerPattern * trialTexts.length

// Each change of a list checks all of its patterns again.
const checkedPatterns = new Map<string, PatternCheck>()
const checkedAtMost = 1_000

/** Is this pattern supported as a blocked word? If not, a reason is given. */
export function checkPattern(source: string): PatternCheck {
  const before = checkedPatterns.get(source)
  if (before) return before
  const check = checkOf(source)
  if (source.length > patternLimits.characters) return check
  if (checkedPatterns.size >= checkedAtMost) checkedPatterns.clear()
  checkedPatterns.set(source, check)
  return check
}

function checkOf(source: string): PatternCheck {
  if (source === '') return { ok: false, reason: 'The pattern is empty' }
  if (source.length > patternLimits.characters) {
    return { ok: false, reason: `The pattern is longer than ${patternLimits.characters} characters` }
  }
  try {
    RE2JS.compile(source, RE2JS.CASE_INSENSITIVE)
    const programSize = RE2JS.compile(enginesSource(source), RE2JS.CASE_INSENSITIVE).programSize()
    if (programSize > patternLimits.programSize)
      return {
        ok: false,
        reason: `The pattern is too large: ${programSize} steps, at most ${patternLimits.programSize}`,
      }
    return isPossiblePattern(source) ? { ok: true, programSize } : { ok: false, reason: impossible }
  } catch (error) {
    return { ok: false, reason: refusalOf(source, error) }
  }
}

const impossible =
  'The pattern can never be found: it contradicts itself, as `a$b` and `x\\by` do, or asks for a character that no text holds'

const unsupported: readonly (readonly [construct: RegExp, name: string])[] = [
  [/^(\(\?[=!])/, 'Lookahead'],
  [/^(\(\?<[=!])/, 'Lookbehind'],
  [/^(\(\?>)/, 'An atomic group'],
  [/^(\\(?:[1-9]|k))/, 'A backreference'],
  [/^(\\u)/, 'A Unicode escape'],
  [/^(\[\^\])/, 'An empty class'],
]

function refusalOf(source: string, error: unknown): string {
  const message =
    error instanceof Error ? error.message.replace(/^error parsing regexp: /, '').replace('`(?i)', '`') : ''
  const fragment = /`(.*)`/s.exec(message)?.[1] ?? source
  for (const [construct, name] of unsupported) {
    const written = construct.exec(fragment)?.[1]
    if (written !== undefined) return `${name} is not supported: ${written}`
  }
  return `The pattern is not valid: ${message}`
}

// Patterns run together in one walk. If the text keeps several busy, each walks alone.
const stepsTogether = stepsOfAText / 32

/** Searches a text for patterns, and returns their ids. */
type PatternSearch = (codePoints: Uint32Array, budget: Budget) => Iterable<string>

interface Compiled {
  of: readonly Pattern[]
  leftOut: readonly (readonly [id: string, reason: string])[]
  search: PatternSearch
}

/** By the last pattern of a list, because lists grow at the end. */
const compiled = new WeakMap<Pattern, Compiled>()

/**
 * Compiles patterns into one search, or takes the cached one of the same patterns. Patterns beyond a limit are left
 * out.
 */
export function compilePatterns(patterns: readonly Pattern[], onLeftOut: OnLeftOut): PatternSearch {
  const last = patterns.at(-1)
  if (last === undefined) return () => []
  const before = compiled.get(last)
  const isSame = before?.of.length === patterns.length && before.of.every((one, at) => one === patterns[at])
  const { leftOut, search } = isSame ? before : compile(patterns)
  compiled.set(last, { of: patterns, leftOut, search })
  for (const [id, reason] of leftOut) onLeftOut(id, reason)
  return search
}

function compile(patterns: readonly Pattern[]): Compiled {
  const { admitted, leftOut } = admitPatterns(patterns)
  const program = programOf(...admitted.map(({ word }) => word))
  const together = automaton(program)
  const alone = admitted.length > 1 ? admitted.map((pattern) => ({ pattern, isIn: aloneIn(pattern, program) })) : []
  const search: PatternSearch = (codePoints, budget) => {
    if (admitted.length === 0 || budget.left < 0) return []
    const text = read(codePoints, program)
    const allowance = { left: alone.length > 0 ? Math.min(stepsTogether, budget.left) : budget.left }
    const { left } = allowance
    const found = new Set<string>()
    for (const at of together.search(text, allowance)) found.add(admitted[at]?.id ?? '')
    if (!spend(budget, left - allowance.left) || allowance.left >= 0) return found
    for (const { pattern, isIn } of alone) if (isIn(text, budget)) found.add(pattern.id)
    return found
  }
  return { of: patterns, leftOut, search }
}

function read(codePoints: Uint32Array, { symbolOf, end }: Program): Uint16Array {
  const text = new Uint16Array(codePoints.length + 1)
  for (let at = 0; at < codePoints.length; at += 1) text[at] = symbolOf(codePoints[at] as number)
  text[codePoints.length] = end
  return text
}

const programs = new WeakMap<Pattern, Program>()

function programFor(pattern: Pattern): Program {
  const program = programs.get(pattern) ?? programOf(pattern.word)
  programs.set(pattern, program)
  return program
}

/** A search for one pattern, in a text that was read for all. */
function aloneIn(pattern: Pattern, all: Program) {
  const own = programFor(pattern)
  const { search } = automaton(own)
  const symbols = Uint16Array.of(...Array.from(all.firsts, own.symbolOf), own.end)
  return (text: Uint16Array, budget: Budget): boolean =>
    search(
      text.map((symbol) => symbols[symbol] as number),
      budget,
    ).size > 0
}

function admitPatterns(patterns: readonly Pattern[]) {
  const admitted: Pattern[] = []
  const leftOut: [id: string, reason: string][] = []
  let total = 0
  for (const pattern of patterns) {
    const check = checkPattern(pattern.word)
    const refusal = check.ok ? crowding(admitted.length, total + check.programSize) : check.reason
    if (refusal !== null) leftOut.push([pattern.id, refusal])
    if (!check.ok || refusal !== null) continue
    total += check.programSize
    admitted.push(pattern)
  }
  return { admitted, leftOut }
}

function crowding(others: number, programSize: number): string | null {
  if (others >= patternLimits.perList) return `A list holds at most ${patternLimits.perList} patterns`
  if (programSize <= patternLimits.programSizePerList) return null
  return `The patterns of a list are too large together: at most ${patternLimits.programSizePerList} steps`
}

type Trial = { ok: true; cost: number } | { ok: false; code: 'VALIDATION_ERROR' | 'CONFLICT'; reason: string }

/**
 * May this pattern be added to a list? Its cost is the largest number of steps on the trial texts. Patterns of older
 * versions were not tried, and cost nothing here.
 */
export function tryPattern(source: string, others: readonly { source: string; cost: number }[]): Trial {
  const check = checkPattern(source)
  if (!check.ok) return { ok: false, code: 'VALIDATION_ERROR', reason: `Invalid regex: ${check.reason}` }
  const size = others.reduce((sum, other) => sum + sizeOf(other.source), check.programSize)
  const crowded = crowding(others.length, size)
  if (crowded !== null) return { ok: false, code: 'CONFLICT', reason: crowded }
  const cost = costOf(source)
  if (cost > trialStepsPerPattern) return { ok: false, code: 'VALIDATION_ERROR', reason: `Invalid regex: ${costly}` }
  if (others.reduce((sum, other) => sum + other.cost, cost) > trialStepsPerList)
    return { ok: false, code: 'CONFLICT', reason: 'The patterns of this list cost too much together' }
  return { ok: true, cost }
}

const costly =
  'The pattern is too costly, as it follows too many places of a text at once. Shorten its repeats, or begin it with rarer words'

const sizeOf = (source: string): number => {
  const check = checkPattern(source)
  return check.ok ? check.programSize : 0
}

function costOf(source: string): number {
  const search = compilePatterns([{ id: source, word: source }], () => {})
  const costs = trialTexts.map((codePoints) => {
    const budget = { left: trialStepsPerPattern }
    search(codePoints, budget)
    return trialStepsPerPattern - budget.left
  })
  return Math.max(...costs)
}
