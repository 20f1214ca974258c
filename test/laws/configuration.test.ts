import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, variableNames } from '#server/config'
import { domains } from '#server/domains/index'
import {
  everythingIn,
  findings,
  nameOf,
  parse,
  programOf,
  type Source,
  type Syntax,
  sourcesOf,
  textOf,
} from './sources.ts'

/** Read by its beginning: there is one for each chain. */
const families = ['RPC_URL_<chainId>']
const known = [...variableNames, ...families].sort()
const isTable = ({ path }: Source) => /^server\/(environment\.ts|config\/|domains\/.+\/settings\.ts)/.test(path)
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name)

describe('the configuration', () => {
  test('every variable is declared once, in the file of its subject or by its domain', () => {
    const declared = sourcesOf('server').filter(isTable).flatMap(declaredIn)
    expect(declared.sort()).toEqual([...variableNames].sort())
    expect(variableNames).toEqual([...new Set(variableNames)])
  })

  test('that law sees what is declared, and nothing that is read', () => {
    const code = "const table = z.object({ A_B: word, ...rest }); const { C: d } = env; const text = { say: 'E: f' }"
    expect(declaredIn(parse('server/config/a.ts', code))).toEqual(['A_B'])
  })

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

/** The variables that a file declares: names in capitals of what it makes, not of what it takes apart. */
function declaredIn({ path, code }: Source): string[] {
  const made = everythingIn(programOf(path, code)).filter(({ type }) => type === 'ObjectExpression')
  const names = made.flatMap(({ properties }) => (properties as Syntax[]).map(({ key }) => nameOf(key)))
  return names.filter((name) => /^[A-Z][A-Z\d]*(_[A-Z\d]+)*$/.test(name))
}
