import { expect, test } from 'vitest'
import { findings, sourcesOf } from './sources.ts'

/** The clock of the machine may be set: how long something takes is measured by `performance.now()`, what is stored has the store's time. */
const whereTheTimeOfDayIsMeant = [
  'server/kernel/ids.ts',
  'server/domains/rooms/shown.ts',
  'server/ports/database/embedded.ts',
  'server/ports/database/embedded/lock.ts',
  'server/ports/database/mongo.ts',
  'server/ports/jobs/bullmq.ts',
  'server/ports/onramp/http.ts',
]

test('the server reads the time of day only where it is meant, so that a clock that is set ends and delays nothing', () => {
  const isMeant = (path: string) => whereTheTimeOfDayIsMeant.includes(path)
  expect(findings(sourcesOf('server'), /\bDate\s*\.\s*now\b/g, isMeant)).toEqual([])
})

test('every listed file still uses Date.now', () => {
  const sources = sourcesOf('server').filter(({ path }) => whereTheTimeOfDayIsMeant.includes(path))
  expect(
    sources
      .filter(({ code }) => code.includes('Date.now'))
      .map(({ path }) => path)
      .sort(),
  ).toEqual([...whereTheTimeOfDayIsMeant].sort())
})
