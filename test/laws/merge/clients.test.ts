import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { textOf } from '../sources.ts'

const path = 'docs/api/openapi.json'
const document = JSON.parse(textOf(path)) as { components: { schemas: Record<string, unknown> } }

test('N80: each schema that others refer to has a name of ours', () => {
  expect(Object.keys(document.components.schemas).filter((name) => !/^[A-Z][A-Za-z\d]*$/.test(name))).toEqual([])
})

test('N80: the values of a choice are of one type', () => {
  const mixed = partsOf(document).flatMap(({ enum: values }) =>
    Array.isArray(values) && new Set(values.filter((value) => value !== null).map((value) => typeof value)).size > 1
      ? [values]
      : [],
  )
  expect(mixed).toEqual([])
})

test('N80: what a field holds under both its spellings is a schema with a name, as two types cannot have one', () => {
  const unnamed = partsOf(document).flatMap(({ properties }) =>
    Object.entries((properties ?? {}) as Record<string, unknown>)
      .filter(([name, schema]) => /[A-Z]/.test(name) && snake(name) in (properties as object) && hasObject(schema))
      .map(([name]) => name),
  )
  expect(unnamed).toEqual([])
})

const generator = 'openapi-python-client'
const isThere = spawnSync(generator, ['--version']).status === 0

test.skipIf(!isThere)('N80: a client for Python is generated without a warning but that of lines of JSON', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plaza-client-'))
  try {
    const out = join(folder, 'client')
    const given = ['generate', '--path', path, '--meta', 'none', '--output-path', out]
    const { stdout, stderr, status } = spawnSync(generator, given, { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const said = `${stdout}\n${stderr}`
    const warnings = said.split(/^(?=WARNING |Unable to )/m).slice(1)
    expect(warnings.filter((warning) => !warning.includes('Unsupported content_type application/x-ndjson'))).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const hasObject = (schema: unknown): boolean =>
  partsOf(schema).some(({ type, properties }) => type === 'object' && properties !== undefined)

/** Every object within a document. */
function partsOf(part: unknown): Record<string, unknown>[] {
  if (typeof part !== 'object' || part === null) return []
  const inner = Object.values(part).flatMap(partsOf)
  return Array.isArray(part) ? inner : [part as Record<string, unknown>, ...inner]
}
