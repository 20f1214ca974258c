import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { oneFile } from '../../scripts/one-file.mjs'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** The server and its tool as `npm start` and `npm run plaza` run them. */
export const programs = {
  main: at('dist/server/main.js'),
  cli: at('dist/cli/main.js'),
  /** The media engine, which the server starts by itself. */
  media: at('dist/media/main.js'),
}

/** What `npm start` tells node beside the program. */
export function startOptions(): string[] {
  const { scripts } = JSON.parse(readFileSync(at('package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

/** Builds the page and the programs, where they are older than their sources. */
export function build(): void {
  const { status, stderr } = spawnSync(process.execPath, [at('scripts/build.mjs')], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The build failed: ${stderr}`)
}

/** Bundles a program of the tests that is started repeatedly. The bundle exists until the test file ends. */
export async function inOneFile(source: string): Promise<string> {
  // Below the root, where lmdb is found.
  mkdirSync(at('.cache'), { recursive: true })
  const outDir = mkdtempSync(at('.cache/program-'))
  afterAll(() => rmSync(outDir, { recursive: true, force: true }))
  const settings = oneFile(at(source))
  const { build: bundle } = await import('vite')
  await bundle({ ...settings, logLevel: 'error', build: { ...settings.build, outDir } })
  return join(outDir, 'main.js')
}
