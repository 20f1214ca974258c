import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const WAIT_MS = 5000
const RETRY_MS = 50
const BEAT_MS = 1000
const SILENT_MS = 3000

interface Owner {
  pid: number
  /** Tells a process from a later one with the same pid. */
  started: string
  host: string
  id: string
}

/** Owners within this process: a dead container's pid may be our own. */
const ours = new Set<string>()

const inUse = (directory: string, pid: number) =>
  Object.assign(new Error(`The data directory ${directory} is in use by another process (pid ${pid}).`), {
    code: 'EBUSY',
  })

/** Makes this opening the only one on the directory, and gives back what ends that. A dead owner's lock is taken over. */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'lock')
  const owner: Owner = { pid: process.pid, started: startOf(process.pid), host: hostname(), id: randomUUID() }
  const deadline = Date.now() + WAIT_MS
  while (!(await take(path, owner))) {
    const holder = await read(path)
    if (!holder) continue
    if (await isGone(path, holder)) await clear(path, holder)
    else if (Date.now() < deadline) await sleep(RETRY_MS)
    else throw inUse(directory, holder.pid)
  }
  ours.add(owner.id)
  const beat = setInterval(() => utimes(path, new Date(), new Date()).catch(() => undefined), BEAT_MS)
  beat.unref()
  return async () => {
    clearInterval(beat)
    ours.delete(owner.id)
    await unlink(path).catch(() => undefined)
  }
}

/** A link appears with its whole content or not at all. */
async function take(path: string, owner: Owner): Promise<boolean> {
  const own = `${path}.${owner.id}`
  await writeFile(own, JSON.stringify(owner))
  try {
    await link(own, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await unlink(own)
  }
}

async function read(path: string): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** On this host a process can be looked up; elsewhere only the beat of its lock tells. */
async function isGone(path: string, holder: Owner): Promise<boolean> {
  if (holder.host !== hostname()) {
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }))
    return Date.now() - mtimeMs > SILENT_MS
  }
  if (holder.pid === process.pid) return !ours.has(holder.id)
  return !isAlive(holder.pid) || startOf(holder.pid) !== holder.started
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Where the system tells it: ticks from its start to that of the process. */
function startOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** Moves a dead owner's lock away; one that another has taken meanwhile is put back. */
async function clear(path: string, holder: Owner): Promise<void> {
  const away = `${path}.${randomUUID()}`
  try {
    await rename(path, away)
    const moved = await read(away)
    if (moved?.id !== holder.id) await link(away, path)
    await unlink(away)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error))) throw error
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
