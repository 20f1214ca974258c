import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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
