import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from './kernel/make-directory.ts'
import { ConfigError } from './kernel/settings.ts'

/** Newest first: the first signs, all verify. */
export type SessionKeys = readonly { id: string; secret: Uint8Array }[]

const keyBytes = 32

const base64 = /^[A-Za-z\d+/_-]+=*$/

/** Reads `id:base64,id:base64`; null where a key is too short, or has no id or that of another. */
export function parseSessionKeys(text: string): SessionKeys | null {
  const keys = text.split(',').map((entry) => {
    const [id = '', secret = '', ...rest] = entry.trim().split(':')
    const isWhole = /^\S+$/.test(id) && base64.test(secret) && rest.length === 0
    return { id, secret: new Uint8Array(Buffer.from(isWhole ? secret : '', 'base64')) }
  })
  const areOneEach = new Set(keys.map(({ id }) => id)).size === keys.length
  return areOneEach && keys.every(({ secret }) => secret.length >= keyBytes) ? keys : null
}

/** Generated keys: kept by the store for all its nodes, or in the directory of a single node. */
export async function keptSessionKeys(
  directory: string,
  keepForAllNodes: ((offered: string) => Promise<string>) | null,
): Promise<SessionKeys> {
  const file = join(directory, 'session-keys')
  const offered = existsSync(file) ? readKeys(file) : `local:${randomBytes(keyBytes).toString('base64')}`
  if (!keepForAllNodes) await keepIn(directory, file, offered)
  const keys = parseSessionKeys(keepForAllNodes ? await keepForAllNodes(offered) : offered)
  if (!keys) throw new ConfigError(notUsable)
  return keys
}

const notUsable = 'The file session-keys in DATA_DIR is not usable; set SESSION_KEYS instead.'

function readKeys(file: string): string {
  try {
    // A pipe would be read for ever.
    if (statSync(file).isFile()) return readFileSync(file, 'utf8').trim()
  } catch {}
  throw new ConfigError(notUsable)
}

async function keepIn(directory: string, file: string, text: string): Promise<void> {
  if (existsSync(file)) return
  await makeDirectory(directory)
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
}
