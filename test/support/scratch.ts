import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the working tree, to change as a test likes; it shares the installed packages. */
export interface Scratch {
  readonly directory: string
  remove(): void
}

export function createScratch(): Scratch {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-scratch-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const path of listed.toString().split('\0').filter(isFile)) {
    mkdirSync(join(directory, dirname(path)), { recursive: true })
    cpSync(join(root, path), join(directory, path))
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

function isFile(path: string): boolean {
  return path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true
}
