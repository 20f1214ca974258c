import { expect, test } from 'vitest'
import { findings, parse, sourcesOf } from './sources.ts'

/** The clock of the machine may be set: how long something takes is measured by `performance.now()`, what is stored has the store's time. */
const whereTheTimeOfDayIsMeant = [
  'server/kernel/ids.ts',
  'server/domains/rooms/room-state/rendered.ts',
  'server/media/main.ts',
  'server/ports/database/embedded.ts',
  'server/ports/database/embedded/backup-lines.ts',
  'server/ports/database/embedded/lock.ts',
  'server/ports/database/mongo.ts',
  'server/ports/jobs/bullmq.ts',
  'server/ports/onramp/http.ts',
  'server/ports/video/livepeer.ts',
]

/** `Date.now`, a `Date` of no argument, and `Date` under another name. */
const timeOfDay = /\bDate\s*\.\s*now\b|\bDate\s*\[|\bDate\s*\(\s*\)|\bnew\s+Date\b(?!\s*\()|=\s*Date\s*(?=[\n;,)])/g

test('the server reads the time of day only where it is meant, so that a clock that is set ends and delays nothing', () => {
  const isMeant = (path: string) => whereTheTimeOfDayIsMeant.includes(path)
  expect(findings(sourcesOf('server'), timeOfDay, isMeant)).toEqual([])
})

test.each(['Date.now()', 'new Date()', 'new Date', 'Date()', "Date['now']()", 'now(Date.now)'])(
  'that law sees: %s',
  (code) => {
    expect(findings([parse('server/kernel/a.ts', `export const a = ${code}`)], timeOfDay)).toHaveLength(1)
    expect(findings([parse('server/kernel/a.ts', 'export const a = (b: Date) => new Date(b)')], timeOfDay)).toEqual([])
  },
)

test('every listed file still reads the time of day', () => {
  const sources = sourcesOf('server').filter(({ path }) => whereTheTimeOfDayIsMeant.includes(path))
  expect(
    sources
      .filter((source) => findings([source], timeOfDay).length > 0)
      .map(({ path }) => path)
      .sort(),
  ).toEqual([...whereTheTimeOfDayIsMeant].sort())
})

/** Node 20 forgets a signal of time that only a combined signal holds, so whoever combines them keeps it and reads it afterwards. */
const forgotten = /\bAbortSignal\s*\.\s*any\s*\([^)]*\bAbortSignal\s*\.\s*timeout\b/g

test('no signal of time is made within a combined one', () => {
  expect(findings(sourcesOf('server', 'client', 'shared'), forgotten)).toEqual([])
  const code = 'export const until = AbortSignal.any([signal, AbortSignal.timeout(5_000)])'
  expect(findings([parse('server/kernel/a.ts', code)], forgotten)).toHaveLength(1)
})
