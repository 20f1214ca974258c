import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, variableNames } from '#server/config'
import { domains } from '#server/domains/index'
import { findings, sourcesOf, textOf } from './sources.ts'

/** Read by its beginning: there is one for each chain. */
const families = ['RPC_URL_<chainId>']
const known = [...variableNames, ...families].sort()
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name)

describe('the configuration', () => {
  test('every variable is declared once', () => expect(variableNames).toEqual([...new Set(variableNames)]))

  test('settings are declared beside a domain, and listed by it', () => {
    const declared = findings(sourcesOf('server'), /\bdefineSettings\(/g)
    expect(declared.filter((found) => !found.startsWith('server/domains/'))).toEqual([])
    expect(domains.flatMap(({ settings }) => settings ?? [])).toHaveLength(declared.length)
  })

  test('no domain reads the settings of another', () => {
    const foreign = sourcesOf('server').flatMap(({ path, imports }) =>
      imports
        .filter((to) => /\/settings\.ts$/.test(to) && !path.startsWith(`${dirname(to)}/`))
        .map((to) => `${path} -> ${to}`),
    )
    expect(foreign.filter((found) => !found.endsWith('-> server/kernel/settings.ts'))).toEqual([])
  })

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
