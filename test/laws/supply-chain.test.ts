import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { root, textOf } from './sources.ts'

const versions = z.record(z.string(), z.string())
const manifest = z
  .object({
    dependencies: versions,
    devDependencies: versions,
    overrides: versions,
    allowScripts: z.record(z.string(), z.boolean()),
  })
  .parse(JSON.parse(textOf('package.json')))
const locked = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        resolved: z.string().optional(),
        hasInstallScript: z.boolean().optional(),
        dependencies: versions.optional(),
        devDependencies: versions.optional(),
      }),
    ),
  })
  .parse(JSON.parse(textOf('package-lock.json'))).packages

/** Of the server that speaks S3 to the tests, on the loopback address; its older router is not asked by anybody else. */
const ofTestsAlone = '@koa/router'

describe('the supply chain', () => {
  test('every dependency is pinned exactly', () => {
    const pins = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.overrides }
    expect(Object.entries(pins).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })

  test('the lock says what the manifest says', () => {
    expect(locked['']?.dependencies).toEqual(manifest.dependencies)
    expect(locked['']?.devDependencies).toEqual(manifest.devDependencies)
  })

  test('what is installed is what is locked', () => {
    expect(() =>
      execFileSync('npm', ['ls', '--all', '--silent'], { cwd: root, stdio: 'pipe', maxBuffer: 2 ** 26 }),
    ).not.toThrow()
  })

  test('no registry is written into the lock', () => {
    expect(Object.entries(locked).filter(([, { resolved }]) => resolved?.includes('://'))).toEqual([])
  })

  test('no package may run a script when it is installed; each that has one is named', () => {
    const having = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript)
    const names = having.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
    expect(manifest.allowScripts).toEqual(Object.fromEntries(names.map((name) => [name, false])))
  })

  test.each(floors())('$name is at $floor or above ($advisory)', ({ name, floor }) => {
    const found = Object.entries(locked).filter(
      ([path]) => path.endsWith(`node_modules/${name}`) && !path.includes(`node_modules/${ofTestsAlone}/`),
    )
    expect(
      found
        .filter(([, { version = '' }]) => isBelow(version, floor))
        .map(([path, { version }]) => `${path} ${version}`),
    ).toEqual([])
  })
})

/** Rows of the table in docs/advisories.md. */
function floors(): { name: string; floor: string; advisory: string }[] {
  const rows = [...textOf('docs/advisories.md').matchAll(/^\| `([^`]+)` \| (\d+\.\d+\.\d+) \| ([^|]+?) \|/gm)]
  if (rows.length === 0) throw new Error('docs/advisories.md has no table of floors')
  return rows.map(([, name = '', floor = '', advisory = '']) => ({ name, floor, advisory }))
}

function isBelow(version: string, floor: string): boolean {
  return version.localeCompare(floor, 'en', { numeric: true }) < 0
}
