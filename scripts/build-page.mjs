import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = ['client', 'shared', 'vite.config.ts', 'package-lock.json'].map((path) => join(root, path))
const page = join(root, 'dist', 'page')

if (!isFresh()) build()

function isFresh() {
  const entry = join(page, 'index.html')
  return existsSync(entry) && Math.max(...sources.map(newest)) <= statSync(entry).mtimeMs
}

function newest(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

/** Into a folder of its own, then into place by a rename, so that a server never serves half a page. */
function build() {
  mkdirSync(join(root, 'dist'), { recursive: true })
  const fresh = mkdtempSync(join(root, 'dist', 'page-'))
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const { status } = spawnSync(process.execPath, [vite, 'build', '--outDir', fresh, '--logLevel', 'warn'], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'inherit',
  })
  if (status === 0) replacePage(fresh)
  rmSync(fresh, { recursive: true, force: true })
  if (status !== 0) process.exit(status ?? 1)
}

function replacePage(fresh) {
  const old = `${fresh}-old`
  try {
    renameSync(page, old)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  try {
    renameSync(fresh, page)
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  }
  rmSync(old, { recursive: true, force: true })
}
