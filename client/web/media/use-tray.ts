import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { asAppError, isPassing } from '#client/sdk/failures'
import {
  type Place,
  placeMarker,
  uploadFile,
  uploadImage,
  uploadPicture,
  uploadPixelArt,
  uploadVoice,
} from '#client/sdk/media'
import type { Draft, LiveRoom } from '#client/sdk/types'
import { mostFileMegabytes } from '#shared/api/media/uploads'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useClient, useConnectionState } from '../connection/client.ts'
import { useTell } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { mediaTexts as t } from '../texts/media.ts'
import { asPng, type Drawing } from './drawing.ts'
import { fitting, isPicture, prepared } from './prepare.ts'

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
interface Doors {
  /** Stores it, and says by which message it is sent. */
  upload(item: Ready, options: { signal: AbortSignal; onProgress: (share: number) => void }): Promise<Draft>
  say(draft: Draft): void
}

interface Tray {
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
function trayOf(account: string, ref: RoomRef): Tray {
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

function makeTray(): Tray {
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

const megabyte = 1024 * 1024
/** A sealed file is a vector and a tag longer. */
const sealedBytes = 28
/** More is not taken by any server; how much an account may send, the server says. */
export const mostFileBytes = mostFileMegabytes * megabyte - sealedBytes
const mostBytesIn = (isSealed: boolean): number => (isSealed ? 10 * megabyte - sealedBytes : 5 * megabyte)

/** What this account is about to send to the open room, and how it is sent there. */
export function useTray() {
  const client = useClient()
  const tell = useTell()
  const { live, account, isSealed } = useOpenRoom()
  const tray = trayOf(account, live.ref)
  const items = useSyncExternalStore(tray.subscribe, () => tray.items)
  const mostBytes = mostBytesIn(isSealed)

  const doors = useMemo((): Doors => {
    const conversationId = live.ref.id ?? live.ref.type
    return {
      async upload({ kind, blob, name, seconds }, options) {
        if (kind === 'file') {
          const { key, epochId } = isSealed ? await live.conversationKey() : { key: null, epochId: null }
          const seal = key ? { seal: { key, conversationId } } : {}
          const { attachment, salt } = await uploadFile(client, { file: blob, name, ...seal }, options)
          const draft = { text: attachment.name, attachments: [attachment] }
          return salt === null ? draft : { ...draft, mediaEpoch: epochId, mediaSalt: salt }
        }
        if (kind === 'voice' && isSealed) {
          const { key, epochId } = await live.conversationKey()
          const sealed = { voice: blob, seconds, key, conversationId }
          return sealedDraft(await uploadVoice(client, sealed, options), epochId)
        }
        if (isSealed) {
          const { key, epochId } = await live.conversationKey()
          const sealed = { image: blob, key, conversationId }
          return sealedDraft(await uploadImage(client, sealed, options), epochId)
        }
        if (kind === 'pixel_art') return draftOf(kind, (await uploadPixelArt(client, blob, options)).marker)
        const shown = kind === 'voice' ? { voice: blob, seconds } : { picture: blob }
        const { marker } = await uploadPicture(client, { ...shown, context: live.ref.type }, options)
        return draftOf(kind, marker)
      },
      say: (draft) => void live.send(draft),
    }
  }, [client, live, isSealed])

  const connection = useConnectionState()
  useEffect(() => {
    if (connection === 'online') tray.retry(doors, (error) => isPassing(asAppError(error)))
  }, [connection, tray, doors])

  const addFiles = (
    files: readonly File[],
    offers: { photo: boolean; gif: boolean; file: boolean },
    asFiles = false,
  ) => {
    const shut = new Set<string>()
    for (const file of files) {
      const kind = file.type === 'image/gif' ? 'gif' : 'photo'
      if (isPicture(file) && !offers[kind]) shut.add(kind === 'gif' ? t.problems.gifsOff : t.problems.photosOff)
      else if (!offers.file && !file.type.startsWith('image/')) shut.add(t.problems.filesOff)
      else if (offers.file && (asFiles || !isPicture(file)))
        tray.add({ kind: 'file', name: file.name }, async () => fitting(file, mostFileBytes))
      else tray.add({ kind, name: file.name }, () => prepared(file, mostBytes))
    }
    for (const refusal of shut) tell(refusal)
  }
  const addVoice = (sound: Blob, seconds: number) => {
    tray.add({ kind: 'voice', name: t.names.voice, seconds }, async () => fitting(sound, mostBytes))
  }
  const addDrawing = (drawing: Drawing) => {
    tray.add({ kind: 'pixel_art', name: t.names.pixel_art }, async () => fitting(await asPng(drawing), mostBytes))
  }
  return {
    items,
    mostBytes,
    drawing: tray.drawing,
    keepDrawing: tray.keepDrawing,
    addFiles,
    addVoice,
    addDrawing,
    send: () => tray.send(doors),
    retry: () => tray.retry(doors),
    remove: tray.remove,
  }
}
export type UsedTray = ReturnType<typeof useTray>

/** Sends a place. */
export function sendPlace(live: LiveRoom, place: Place): void {
  live.send(draftOf('location', placeMarker(place)))
}

const draftOf = (type: NonNullable<Draft['type']>, text: string): Draft => ({ type, text })

/** The message of media that were sealed by the key of this epoch. */
const sealedDraft = ({ marker, salt }: { marker: string; salt: string }, mediaEpoch: string | null): Draft => ({
  text: marker,
  mediaEpoch,
  mediaSalt: salt,
})
