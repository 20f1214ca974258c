import { describe, expect, test } from 'vitest'
import { readConfig, variableNames } from '#server/config'
import { textOf } from './sources.ts'

/** Read by its beginning: there is one for each chain. */
const families = ['RPC_URL_<chainId>']
const known = [...variableNames, ...families].sort()
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name)

describe('the configuration', () => {
  test('every variable that is read has one line in the documentation, and no other has', () => {
    expect(namesIn(textOf('docs/configuration.md'), /^\| `([^`]+)` \|/gm).sort()).toEqual(known)
  })

  test('the example names variables that are read, with values that would do', () => {
    const lines = namesIn(textOf('.env.example'), /^# ([A-Z_0-9]+=.+)$/gm)
    const example = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))
    expect(lines.length).toBeGreaterThan(0)
    expect(Object.keys(example).filter((name) => !known.includes(name))).toEqual([])
    expect(() => readConfig({ SESSION_KEYS: `test:${Buffer.alloc(32).toString('base64')}`, ...example })).not.toThrow()
  })
})
