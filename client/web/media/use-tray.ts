import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { asAppError, isPassing } from '#client/sdk/failures'
import type { Place } from '#client/sdk/media'
import { placeMarker, uploadFile, uploadImage, uploadPicture, uploadPixelArt, uploadVoice } from '#client/sdk/media'
import type { Draft, LiveRoom } from '#client/sdk/types'
import { mostFileMegabytes } from '#shared/api/media/uploads'
import { useClient, useConnectionState } from '../connection/client.ts'
import { useTell } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { mediaTexts as t } from '../texts/media.ts'
import { asPng, type Drawing } from './drawing.ts'
import { fitting, isPicture, prepared } from './prepare.ts'
import { type Doors, trayOf } from './tray.ts'

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
