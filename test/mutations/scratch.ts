import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutation, mutated } from './mutation.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the working tree, to break as one likes; it shares the installed packages. */
export interface Scratch {
  readonly directory: string
  /** Puts the mutation in; what is returned takes it out again. */
  mutate(mutation: Mutation): () => void
  remove(): void
}

export function createScratch(): Scratch {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-mutate-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const path of listed.toString().split('\0').filter(isFile)) {
    mkdirSync(join(directory, dirname(path)), { recursive: true })
    cpSync(join(root, path), join(directory, path))
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return {
    directory,
    mutate(mutation) {
      const path = join(directory, mutation.file)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, mutated(text, mutation))
      return () => writeFileSync(path, text)
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function isFile(path: string): boolean {
  return path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true
}
