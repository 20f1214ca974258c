import { changeDialogs, openDialogs } from './top-dialog.ts'

export function showDialog(dialog: HTMLDialogElement): void {
  followHistory()
  dialog.showModal()
  change([...openDialogs(), dialog])
}

export function closeDialog(dialog: HTMLDialogElement): void {
  dialog.close()
  change(openDialogs().filter((one) => one !== dialog))
}

function change(next: readonly HTMLDialogElement[]): void {
  changeDialogs(next)
  queueMicrotask(settleLayers)
}

/** Dialogs without an address are steps of the history above their page, so that the browser's back closes one of them. */
const layers = (): readonly HTMLDialogElement[] => openDialogs().filter(({ dataset }) => dataset.address === undefined)

/** How many steps of the history are above the page now. */
const historyLayers = (): number => history.state?.layers ?? 0

let isFollowing = false
/** The browser steps back after the call. Until then no other step is made. */
let isReturning = false
const waiting: (() => void)[] = []

/** Acts on the page, once the steps of the dialogs above it are gone. */
export function beneathLayers(act: () => void): void {
  followHistory()
  if (!isReturning && historyLayers() === 0) {
    act()
    return
  }
  waiting.push(act)
  if (!isReturning) stepBack(historyLayers())
}

export function stepBack(steps: number): void {
  isReturning = true
  history.go(-steps)
}

function followHistory(): void {
  if (isFollowing) return
  isFollowing = true
  // A reload closes dialogs, and keeps their steps.
  if (historyLayers() > 0) history.replaceState({ ...history.state, layers: 0 }, '')
  addEventListener('popstate', () => {
    if (isReturning) {
      isReturning = false
      for (let act = waiting.shift(); act; act = isReturning ? undefined : waiting.shift()) beneathLayers(act)
    } else
      for (const dialog of layers().slice(historyLayers()).reverse())
        dialog.dispatchEvent(new Event('cancel', { cancelable: true }))
    // React shows later what has changed.
    setTimeout(settleLayers)
  })
}

/** Each layer has its step, and no step is without one. */
function settleLayers(): void {
  if (isReturning) return
  const [there, wanted] = [historyLayers(), layers().length]
  for (let layer = there + 1; layer <= wanted; layer++) history.pushState({ ...history.state, layers: layer }, '')
  if (wanted < there) stepBack(there - wanted)
}
