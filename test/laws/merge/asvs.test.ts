import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has; they are numbered without a gap. */
const sections: Readonly<Record<string, number>> = {
  ...{ 'V1.1': 2, 'V1.2': 9, 'V1.3': 11, 'V1.4': 3, 'V1.5': 2, 'V2.1': 3, 'V2.2': 3, 'V2.3': 4, 'V2.4': 1 },
  ...{ 'V3.2': 2, 'V3.3': 4, 'V3.4': 6, 'V3.5': 5, 'V3.7': 2, 'V4.1': 3, 'V4.2': 1, 'V4.3': 2, 'V4.4': 4 },
  ...{ 'V5.1': 1, 'V5.2': 3, 'V5.3': 2, 'V5.4': 3, 'V6.1': 3, 'V6.2': 12, 'V6.3': 4, 'V6.4': 4, 'V6.5': 5 },
  ...{ 'V6.6': 3, 'V6.8': 4, 'V7.1': 3, 'V7.2': 4, 'V7.3': 2, 'V7.4': 5, 'V7.5': 2, 'V7.6': 2, 'V8.1': 2 },
  ...{ 'V8.2': 3, 'V8.3': 1, 'V8.4': 1, 'V9.1': 3, 'V9.2': 4, 'V10.1': 2, 'V10.2': 2, 'V10.3': 4, 'V10.4': 11 },
  ...{ 'V10.5': 5, 'V10.6': 2, 'V10.7': 3, 'V11.1': 2, 'V11.2': 3, 'V11.3': 3, 'V11.4': 4, 'V11.5': 1, 'V11.6': 1 },
  ...{ 'V12.1': 3, 'V12.2': 2, 'V12.3': 4, 'V13.1': 1, 'V13.2': 5, 'V13.3': 2, 'V13.4': 5, 'V14.1': 2, 'V14.2': 4 },
  ...{ 'V14.3': 3, 'V15.1': 3, 'V15.2': 3, 'V15.3': 7, 'V16.1': 1, 'V16.2': 5, 'V16.3': 4, 'V16.4': 3, 'V16.5': 3 },
  ...{ 'V17.1': 1, 'V17.2': 4, 'V17.3': 2 },
}
const text = readFileSync('docs/asvs.md', 'utf8')
const rows = text
  .split('\n')
  .filter((line) => /^\| V\d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

function named(cell: string): string[] {
  return cell.split(', ').flatMap((part) => {
    const [, section = '', from = '', to = from] = /^(V\d+\.\d+)\.(\d+)(?:–V\d+\.\d+\.(\d+))?$/.exec(part) ?? []
    const [first, last] = [Number(from), Number(to)]
    return Array.from({ length: last - first + 1 }, (_, at) => `${section}.${first + at}`)
  })
}

test('each requirement of level 2 stands in one row, with a state and a reason', () => {
  const all = Object.entries(sections).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, at) => `${section}.${at + 1}`),
  )
  expect(rows.flatMap(([, ids = '']) => named(ids)).sort()).toEqual(all.sort())
  for (const [, ids, about, state, where] of rows) {
    expect(about, ids).not.toBe('')
    expect(where, ids).not.toBe('')
    expect(['met', 'part', 'no', 'n. a.', 'later'], ids).toContain(state)
  }
})

test('the files and threats it names are there', () => {
  const paths = [...text.matchAll(/`((?:server|test|docs|shared)\/[\w./-]+)`/g)].map(([, path = '']) => path)
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
  const threats = readFileSync('docs/security.md', 'utf8')
  const promises = readFileSync('docs/promises.md', 'utf8')
  for (const [id] of text.matchAll(/\bT\d\d\b/g)) expect(threats).toContain(`| ${id} |`)
  for (const [id] of text.matchAll(/\bP\d+\b/g)) expect(promises).toContain(`| ${id} |`)
})
