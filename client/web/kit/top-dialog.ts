import { useSyncExternalStore } from 'react'

/** Those that are open, each above the ones before it. */
let dialogs: readonly HTMLDialogElement[] = []
const listeners = new Set<() => void>()

export const openDialogs = (): readonly HTMLDialogElement[] => dialogs

export function changeDialogs(next: readonly HTMLDialogElement[]): void {
  dialogs = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The dialog above all others; everything outside of it is inert. */
export const useTopDialog = (): HTMLDialogElement | null =>
  useSyncExternalStore(subscribe, () => dialogs.at(-1) ?? null)
