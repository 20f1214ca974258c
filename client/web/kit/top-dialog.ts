import { useSyncExternalStore } from 'react'

/** Those that are open, each above the ones before it. */
let dialogs: readonly HTMLDialogElement[] = []
const listeners = new Set<() => void>()

function change(next: readonly HTMLDialogElement[]): void {
  dialogs = next
  for (const listener of listeners) listener()
}

export function showDialog(dialog: HTMLDialogElement): void {
  dialog.showModal()
  change([...dialogs, dialog])
}

export function closeDialog(dialog: HTMLDialogElement): void {
  dialog.close()
  change(dialogs.filter((one) => one !== dialog))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The dialog above all others; everything outside of it is inert. */
export const useTopDialog = (): HTMLDialogElement | null =>
  useSyncExternalStore(subscribe, () => dialogs.at(-1) ?? null)
