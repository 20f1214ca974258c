import { expect, test } from 'vitest'
import { projectNames, projectOf } from '#test/suite/projects'
import { isFirst } from '#test/suite/tiers'
import { textOf } from './sources.ts'

const rows = [...textOf('docs/promises.md').matchAll(/^\| (P\d+) \|.*\| ([^|]+) \|$/gm)].map(
  ([, id = '', files = '']) => ({
    id,
    files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
  }),
)

const isRunEveryTime = (file: string) =>
  projectNames.some((project) => projectOf(project).files.includes(file) && isFirst(project, file))

/** Whether a test is titled by the promise and is not left to `npm run test:all`. */
function showsEveryTime(id: string, code: string): boolean {
  const titles = code.matchAll(/\(\s*(['`"])((?:[A-Z]\d+,? )*[A-Z]\d+): .*?\1,\s*(?:\{[^}]*\.\.\.)?(heavy)?/g)
  return [...titles].some(([, , ids = '', heavy]) => heavy === undefined && ids.split(/,? /).includes(id))
}

test('each promise names tests that `npm test` runs every time, titled by its id', () => {
  expect(rows.length).toBeGreaterThan(20)
  const faults = rows.flatMap(({ id, files }) => {
    const shown = files.filter((file) => isRunEveryTime(file) && showsEveryTime(id, textOf(file)))
    const vain = files.filter((file) => !shown.includes(file)).map((file) => `${id}: ${file} does not show it`)
    return shown.length === 0 ? [`${id}: nothing shows it every time`, ...vain] : vain
  })
  expect(faults).toEqual([])
})

test.each([
  ["test('P1: stays', async () => {", true],
  ["solo('P1 P2: stays', async () => {", true],
  ["test.each(cases)('M45, P1: stays', async () => {", true],
  ["test('P1: stays', heavy, async () => {", false],
  ["test('P1: stays', { ...heavy, timeout: 1 }, async () => {", false],
  ["test('P11: stays', async () => {", false],
])('%s: %s', (code, shows) => {
  expect(showsEveryTime('P1', code)).toBe(shows)
})
