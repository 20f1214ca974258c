import { RE2JS, RE2Set } from 're2js'

export const patternLimits = { characters: 200, programSize: 200, perList: 20, programSizePerList: 1000 } as const

export interface Pattern {
  id: string
  source: string
}
type PatternCheck = { ok: true; programSize: number } | { ok: false; reason: string }
export type OnQuarantine = (id: string, reason: string) => void

// A step is one instruction over one character: 50 ns at worst with these small tables, 250 ns with large Unicode classes.
const stepsAtOnce = 200_000
const stepsPerSlice = 100_000
const stepsTogether = 200_000
const patternTableBytes = 64 * 1024
const listTableBytes = 256 * 1024
const slowTogetherMilliseconds = 10
const slowTimesInARow = 3
const sliceOverlap = 200

/** Can this pattern be a blocked word? The reason names what is not supported. */
export function checkPattern(source: string): PatternCheck {
  if (source === '') return { ok: false, reason: 'The pattern is empty' }
  if (source.length > patternLimits.characters) {
    return { ok: false, reason: `The pattern is longer than ${patternLimits.characters} characters` }
  }
  try {
    const programSize = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).programSize()
    if (programSize <= patternLimits.programSize) return { ok: true, programSize }
    return { ok: false, reason: `The pattern is too large: ${programSize} steps, at most ${patternLimits.programSize}` }
  } catch (error) {
    return { ok: false, reason: refusalOf(source, error) }
  }
}

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

interface Live extends Pattern {
  set: RE2Set
  programSize: number
}

/** Compiles patterns into one search that names those found. What breaks a limit or passes the deadline is left out for good. */
export function compilePatterns(
  patterns: readonly Pattern[],
  onQuarantine: OnQuarantine,
  deadlineMilliseconds: number,
): (text: string) => readonly string[] {
  let live = admit(patterns, onQuarantine)
  let together = live.length > 1 ? compileSet(live, listTableBytes) : null
  let slowTimes = 0
  const programSize = live.reduce((sum, pattern) => sum + pattern.programSize, 0)

  return (text) => {
    if (live.length === 0) return []
    if (together !== null && programSize * text.length <= stepsTogether) {
      const started = performance.now()
      const found = together.match(text).flatMap((at) => live[at]?.id ?? [])
      slowTimes = performance.now() - started > slowTogetherMilliseconds ? slowTimes + 1 : 0
      if (slowTimes === slowTimesInARow) together = null
      return found
    }
    const answers = live.map((pattern) => ({ pattern, answer: search(pattern, text, deadlineMilliseconds) }))
    const late = answers.filter(({ answer }) => answer === 'late').map(({ pattern }) => pattern)
    if (late.length > 0) {
      live = live.filter((pattern) => !late.includes(pattern))
      together = null
      for (const { id } of late) onQuarantine(id, `The pattern took longer than ${deadlineMilliseconds} ms`)
    }
    return answers.flatMap(({ pattern, answer }) => (answer === 'found' ? pattern.id : []))
  }
}

function admit(patterns: readonly Pattern[], onQuarantine: OnQuarantine): Live[] {
  const live: Live[] = []
  let total = 0
  for (const { id, source } of patterns) {
    const check = checkPattern(source)
    const refusal = check.ok ? crowding(live.length, total + check.programSize) : check.reason
    if (refusal !== null) onQuarantine(id, refusal)
    if (!check.ok || refusal !== null) continue
    total += check.programSize
    live.push({ id, source, programSize: check.programSize, set: compileSet([{ id, source }], patternTableBytes) })
  }
  return live
}

function crowding(count: number, total: number): string | null {
  if (count >= patternLimits.perList) return `A list holds at most ${patternLimits.perList} patterns`
  if (total <= patternLimits.programSizePerList) return null
  return `The patterns of a list are too large together: at most ${patternLimits.programSizePerList} steps`
}

function compileSet(patterns: readonly Pattern[], tableBytes: number): RE2Set {
  const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE, tableBytes)
  for (const { source } of patterns) set.add(source)
  set.compile()
  return set
}

/** A large pattern sees a long text in overlapping slices, so that it can be stopped between two of them. */
function search(pattern: Live, text: string, deadlineMilliseconds: number): 'found' | 'absent' | 'late' {
  const started = performance.now()
  const isWhole = pattern.programSize * text.length <= stepsAtOnce
  const length = isWhole ? text.length : Math.ceil(stepsPerSlice / pattern.programSize)
  let sliceStarted = started
  for (let from = 0; ; from += length - sliceOverlap) {
    if (pattern.set.match(text.slice(from, from + length)).length > 0) return 'found'
    if (from + length >= text.length) return 'absent'
    const now = performance.now()
    const nextSlice = now - sliceStarted
    if (now - started + nextSlice > deadlineMilliseconds) return 'late'
    sliceStarted = now
  }
}
