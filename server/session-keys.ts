import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, keyBytes, parseSessionKeys, type SessionKeys } from './config.ts'

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
