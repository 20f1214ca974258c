import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from './kernel/settings.ts'

/** Newest first: the first signs, all verify. */
export type SessionKeys = readonly { id: string; secret: Uint8Array }[]

const keyBytes = 32

/** Reads `id:base64,id:base64`; null where a key is too short or has no id. */
export function parseSessionKeys(text: string): SessionKeys | null {
  const keys = text.split(',').map((entry) => {
    const [id = '', secret = ''] = entry.trim().split(':')
    return { id, secret: new Uint8Array(Buffer.from(secret, 'base64')) }
  })
  return keys.some(({ id, secret }) => id === '' || secret.length < keyBytes) ? null : keys
}

/** Keys that nobody gave: made once, and kept by the store for all of its nodes, or in the directory of its only one. */
export async function keptSessionKeys(
  directory: string,
  keepForAllNodes: ((offered: string) => Promise<string>) | null,
): Promise<SessionKeys> {
  const file = join(directory, 'session-keys')
  const offered = existsSync(file)
    ? readFileSync(file, 'utf8').trim()
    : `local:${randomBytes(keyBytes).toString('base64')}`
  if (!keepForAllNodes) keepIn(directory, file, offered)
  const keys = parseSessionKeys(keepForAllNodes ? await keepForAllNodes(offered) : offered)
  if (!keys) throw new ConfigError('The file session-keys in DATA_DIR is not usable; set SESSION_KEYS instead.')
  return keys
}

function keepIn(directory: string, file: string, text: string): void {
  if (existsSync(file)) return
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
}
