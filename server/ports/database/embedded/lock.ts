import { randomUUID } from 'node:crypto'
import { fstatSync, linkSync, readFileSync, readlinkSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { type FileHandle, link, open, readdir, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Damaged } from './seal.ts'
import { isServed } from './socket.ts'

const WAIT_MS = 5000
const RETRY_MS = 50
const BEAT_MS = 1000
const SILENT_MS = 3000
/** Of two processes that replace a dead lock, the later one wins. The earlier one sees it in this time. */
const SETTLE_MS = 200
const LEFT_BEHIND_MS = 60_000

interface Owner {
  pid: number
  /** Tells a process from a later one with the same pid. */
  started: string
  host: string
  /** Where the pid means something: the boot of the machine and its process namespace. Older locks have none. */
  place?: string
  id: string
}

/** The right to open a directory, which one process has at a time. */
export interface Lock {
  readonly directory: string
  /** Throws `LockLost` once another process has the directory; the process then ends. */
  check(): void
  release(): Promise<void>
}

/** Another process has taken the directory: what is not acknowledged may not be stored. */
export class LockLost extends Error {
  override readonly name = 'LockLost'
}

const here = readPlace()
/** Owners within this process: a dead container's pid may be our own. */
const ours = new Set<string>()

/**
 * Makes this opening the only one on the directory. The lock of a dead process is taken over; a living holder is waited for. What
 * `instead` finds while waiting, if anything, is given back in place of the lock.
 */
export async function lockDirectory(directory: string): Promise<Lock>
export async function lockDirectory<T>(directory: string, instead: () => Promise<T | null>): Promise<Lock | T>
export async function lockDirectory<T>(directory: string, instead?: () => Promise<T | null>): Promise<Lock | T> {
  const path = join(directory, 'lock')
  const own = await writeOwn(path)
  const release = () => letGo(path, own)
  ours.add(own.owner.id)
  try {
    const other = await take(directory, path, own, instead)
    if (other !== null) return await release().then(() => other)
    await syncDirectory(directory)
    await clearLeftBehind(directory)
    return hold(directory, path, own, release)
  } catch (error) {
    await release()
    throw error
  } finally {
    await unlink(own.file).catch(() => undefined)
  }
}

interface Own {
  owner: Owner
  /** A name of its own for the file that becomes the lock. */
  file: string
  /** Held open, so that no other file gets its number. */
  handle: FileHandle
}

/** A file that is whole on the disk before it becomes the lock; where that fails, nothing is left. */
async function writeOwn(path: string): Promise<Own> {
  const owner: Owner = {
    pid: process.pid,
    started: startOf(process.pid),
    host: hostname(),
    place: here,
    id: randomUUID(),
  }
  const file = `${path}.${owner.id}`
  const handle = await open(file, 'wx+', 0o600)
  try {
    await handle.writeFile(JSON.stringify(owner))
    await handle.sync()
    return { owner, file, handle }
  } catch (error) {
    await handle.close()
    await unlink(file)
    throw error
  }
}

/** Waits until the lock is our own, or until there is something in its stead. */
async function take<T>(
  directory: string,
  path: string,
  own: Own,
  instead?: () => Promise<T | null>,
): Promise<T | null> {
  const deadline = performance.now() + WAIT_MS
  let seen: Seen = { content: '', text: '', since: 0 }
  for (;;) {
    if (await appear(own.file, path)) return null
    const now = look(path)
    if (!now) continue
    seen = seen.text === now.text ? seen : now
    const holder = ownerOf(now)
    if (await isGone(directory, holder, performance.now() - seen.since)) {
      if (await takeOver(path, own, now)) return null
      continue
    }
    const other = await instead?.()
    if (other != null) return other
    if (performance.now() > deadline) throw inUse(directory, holder)
    await sleep(RETRY_MS)
  }
}

function inUse(directory: string, holder: Owner | null): Error {
  const by = holder ? ` (pid ${holder.pid}${holder.host === hostname() ? '' : ` on ${holder.host}`})` : ''
  return Object.assign(new Error(`The data directory ${directory} is in use by another process${by}.`), {
    code: 'EBUSY',
  })
}

/** A link appears with its whole content or not at all. */
async function appear(file: string, path: string): Promise<boolean> {
  try {
    await link(file, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** A lock as it was found: its content, and what changes with each beat of its holder. */
interface Seen {
  content: string
  text: string
  since: number
}

function look(path: string): Seen | null {
  try {
    if (!statSync(path).isFile()) throw new Damaged(`${path} is no file`)
    const content = readFileSync(path, 'utf8')
    const { ino, mtimeMs } = statSync(path)
    return { content, text: `${ino} ${mtimeMs} ${content}`, since: performance.now() }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Whose lock it is; null where it is empty, torn or something else. */
function ownerOf({ content }: Seen): Owner | null {
  try {
    const owner: Partial<Owner> | null = JSON.parse(content)
    const isWhole = [owner?.id, owner?.host, owner?.started].every((each) => typeof each === 'string')
    return isWhole && Number.isInteger(owner?.pid) ? (owner as Owner) : null
  } catch {
    return null
  }
}

/** A process of this place can be looked up. Of any other, the beat of its lock tells, by our own clock, and its socket. */
async function isGone(directory: string, holder: Owner | null, silent: number): Promise<boolean> {
  if (holder?.host === hostname() && (holder.place ?? here) === here) {
    if (holder.pid === process.pid) return !ours.has(holder.id)
    return !isAlive(holder.pid) || startOf(holder.pid) !== holder.started
  }
  return silent > SILENT_MS && !(await isServed(directory))
}

/** Replaces a dead lock in one step, if it is still the one that was seen. */
async function takeOver(path: string, own: Own, dead: Seen): Promise<boolean> {
  const next = `${own.file}.next`
  linkSync(own.file, next)
  if (look(path)?.text !== dead.text) {
    unlinkSync(next)
    return false
  }
  renameSync(next, path)
  await sleep(SETTLE_MS)
  return isOwn(path, own)
}

/** Is the lock the very file that we hold open, with what we wrote? */
function isOwn(path: string, { owner, handle }: Own): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.ino === fstatSync(handle.fd).ino && look(path)?.content === JSON.stringify(owner)
}

/** How a lock that is no longer ours was lost, for those who look into it. */
function takenBy(path: string, { owner }: Own): string {
  const now = look(path)
  if (!now) return 'has no lock any more'
  if (now.content === JSON.stringify(owner)) return 'has a copy of the lock in its place'
  const other = ownerOf(now)
  return other ? `was taken by another process (pid ${other.pid} on ${other.host})` : 'has a lock that names nobody'
}

/** Beats while it is held, so that other hosts see a living owner. */
function hold(directory: string, path: string, own: Own, release: () => Promise<void>): Lock {
  let lost: LockLost | null = null
  let known = ''
  const check = () => {
    if (lost) throw lost
    const found = statSync(path, { throwIfNoEntry: false })
    const stamp = `${found?.ino} ${found?.mtimeMs}`
    if (stamp === known) return
    // What is read once amiss is read again: a process ends only where the lock is another's.
    if (isOwn(path, own) || isOwn(path, own)) {
      known = stamp
      return
    }
    const error = new LockLost(`The data directory ${directory} ${takenBy(path, own)}: this process ends.`)
    lost = error
    setImmediate(() => {
      throw error
    })
    throw error
  }
  const beat = async () => {
    check()
    await own.handle.utimes(new Date(), new Date())
  }
  const beats = setInterval(() => void beat().catch(() => undefined), BEAT_MS).unref()
  return {
    directory,
    check,
    async release() {
      clearInterval(beats)
      await release()
    },
  }
}

/** The lock of another is left as it is. */
async function letGo(path: string, own: Own): Promise<void> {
  ours.delete(own.owner.id)
  if (isOwn(path, own)) unlinkSync(path)
  await own.handle.close()
}

/** What openings that were killed left beside the lock; those of today may still be waiting. */
async function clearLeftBehind(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.startsWith('lock.') && name !== 'lock.mdb')
  for (const file of names.map((name) => join(directory, name))) {
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > LEFT_BEHIND_MS) await unlink(file).catch(() => undefined)
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Ticks from the system's start to the process's, if known; empty for an ended process that is still listed. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? '' : (fields[18] ?? '')
  } catch {
    return ''
  }
}

function readPlace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
