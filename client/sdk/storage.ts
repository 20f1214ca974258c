import type { ClientStorage } from './types.ts'

export function memoryStorage(): ClientStorage {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

/** `localStorage` if the page may use it, else memory. */
export function defaultStorage(): ClientStorage {
  try {
    if (typeof window !== 'undefined') return window.localStorage
  } catch {
    return memoryStorage()
  }
  return memoryStorage()
}

/** A full or broken storage loses stored values, but fails no operation. */
export function readStored<Value>(storage: ClientStorage, key: string): Value | null {
  try {
    const text = storage.getItem(key)
    return text === null ? null : (JSON.parse(text) as Value)
  } catch {
    return null
  }
}

export function writeStored(storage: ClientStorage, key: string, value: unknown): void {
  try {
    if (value === null) storage.removeItem(key)
    else storage.setItem(key, JSON.stringify(value))
  } catch {
    return
  }
}
