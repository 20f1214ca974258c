import type { Draft } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import type { Drawing } from './drawing.ts'

/** What is to be sent, before it is a message. */
export interface Sending {
  id: string
  kind: 'photo' | 'gif' | 'voice' | 'pixel_art' | 'file'
  /** Null until it is prepared. */
  blob: Blob | null
  name: string
  seconds: number
  /** `unfit`: it cannot be sent, `error` says why. */
  state: 'preparing' | 'ready' | 'waiting' | 'uploading' | 'failed' | 'unfit'
  /** From 0 to 1. */
  progress: number
  error: unknown
}

type Ready = Sending & { blob: Blob }
export interface Doors {
  /** Stores it, and says by which message it is sent. */
  upload(item: Ready, options: { signal: AbortSignal; onProgress: (share: number) => void }): Promise<Draft>
  say(draft: Draft): void
}

export interface Tray {
  readonly items: readonly Sending[]
  subscribe(listener: () => void): () => void
  /** Puts something in, as it will be once `prepare` has ended. */
  add(item: Pick<Sending, 'kind' | 'name'> & { seconds?: number }, prepare: () => Promise<Blob>): void
  /** Takes something out; what is being uploaded is given up. */
  remove(id: string): void
  /** Sends what is ready, one after another in its order, also while another room is open. What does not fit is taken out. */
  send(doors: Doors): void
  /** Tries again what has failed, or what has failed in this way, and goes on with what waits behind it. */
  retry(doors: Doors, isMeant?: (error: unknown) => boolean): void
  /** The drawing that is not attached yet: it stays where its editor is closed. */
  readonly drawing: Drawing | null
  keepDrawing(drawing: Drawing | null): void
}

let owner: string | null = null
const trays = new Map<string, Tray>()

/** What an account is about to send to a room. It stays while other rooms are open; who signs out leaves nothing. */
export function trayOf(account: string, ref: RoomRef): Tray {
  if (!isSameAccount(owner, account)) {
    for (const tray of trays.values()) for (const { id } of tray.items) tray.remove(id)
    trays.clear()
    owner = account
  }
  const key = roomKey(ref)
  const tray = trays.get(key) ?? makeTray()
  if (!trays.has(key)) tray.subscribe(warnOfLoss)
  trays.set(key, tray)
  return tray
}

/** While something is not sent that would be lost with the page, the browser asks before it leaves the page. */
function warnOfLoss(): void {
  const isHeld = [...trays.values()].some(({ items }) => items.some(({ state }) => state !== 'unfit'))
  if (isHeld) window.addEventListener('beforeunload', ask)
  else window.removeEventListener('beforeunload', ask)
}

const ask = (event: BeforeUnloadEvent) => event.preventDefault()

export function makeTray(): Tray {
  let items: readonly Sending[] = []
  let running: { id: string; abort: AbortController } | null = null
  let lastDoors: Doors | null = null
  let drawing: Drawing | null = null
  const listeners = new Set<() => void>()
  const become = (next: readonly Sending[]) => {
    items = next
    for (const listener of listeners) listener()
  }
  const change = (id: string, next: Partial<Sending>) =>
    become(items.map((item) => (item.id === id ? { ...item, ...next } : item)))

  const run = async (doors: Doors): Promise<void> => {
    lastDoors = doors
    if (running) return
    for (;;) {
      // What has failed holds up what was put in behind it, so that the order is kept.
      const next = items.find(({ state }) => state === 'waiting' || state === 'failed')
      if (!next?.blob || next.state === 'failed') return
      const { id } = next
      const abort = new AbortController()
      running = { id, abort }
      change(id, { state: 'uploading', progress: 0, error: null })
      const options = { signal: abort.signal, onProgress: (progress: number) => change(id, { progress }) }
      try {
        const draft = await doors.upload({ ...next, blob: next.blob }, options)
        if (!abort.signal.aborted) doors.say(draft)
        become(items.filter((item) => item.id !== id))
      } catch (error) {
        if (!abort.signal.aborted) change(id, { state: 'failed', error })
      }
      running = null
    }
  }

  return {
    get items() {
      return items
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    add({ kind, name, seconds = 0 }, prepare) {
      const id = crypto.randomUUID()
      become([...items, { id, kind, name, seconds, blob: null, state: 'preparing', progress: 0, error: null }])
      prepare().then(
        (blob) => change(id, { blob, state: 'ready' }),
        (error) => change(id, { error, state: 'unfit' }),
      )
    },
    remove(id) {
      if (running?.id === id) running.abort.abort()
      become(items.filter((item) => item.id !== id))
      if (lastDoors) void run(lastDoors)
    },
    send(doors) {
      const fit = items.filter(({ state }) => state !== 'unfit')
      become(fit.map((item) => (item.state === 'ready' ? { ...item, state: 'waiting' } : item)))
      void run(doors)
    },
    retry(doors, isMeant = () => true) {
      const isOne = ({ state, error }: Sending) => state === 'failed' && isMeant(error)
      if (!items.some(isOne)) return
      become(items.map((item) => (isOne(item) ? { ...item, state: 'waiting' } : item)))
      void run(doors)
    },
    get drawing() {
      return drawing
    },
    keepDrawing(next) {
      drawing = next
    },
  }
}
