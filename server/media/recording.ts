import { type FileHandle, open } from 'node:fs/promises'
import { fragment, initSegment } from './fmp4.ts'
import type { Fragment } from './live.ts'
import type { Sample, Tracks } from './tracks.ts'

export interface Recording {
  add(part: Fragment): void
  /** When all is written. Throws what kept it from being written. */
  end(): Promise<void>
}

const mostWaitingBytes = 16 * 2 ** 20

/** Fragments of a publisher, readable up to a break. Other picture sizes bring their description. Nothing is written before `after`. */
export function createRecording(path: string, after: Promise<void> = Promise.resolve()): Recording {
  let tracks: Tracks | null = null
  let file: FileHandle | null = null
  let failed: unknown = null
  let waitingBytes = 0
  let count = 0
  let last = after

  function write(bytes: Buffer): void {
    if (failed !== null) return
    waitingBytes += bytes.length
    if (waitingBytes > mostWaitingBytes) {
      failed = new Error('The disk is too slow')
      return
    }
    last = last.then(async () => {
      if (failed !== null) return
      try {
        file ??= await open(path, 'a', 0o600)
        await file.appendFile(bytes)
      } catch (error) {
        failed = error
      }
      waitingBytes -= bytes.length
    })
  }

  return {
    add(part) {
      if (tracks === null) {
        tracks = part.tracks
        write(initSegment(tracks))
      }
      const isSame = tracks.video === part.tracks.video && tracks.audio === part.tracks.audio
      count++
      if (isSame) write(part.data)
      else write(rewritten(count, part, tracks))
    },
    async end() {
      await last
      await file?.close()
      if (failed !== null) throw failed
    },
  }
}

/** A fragment for a changed track: new parameter sets before each key frame, without other sound codecs. */
function rewritten(sequence: number, part: Fragment, tracks: Tracks): Buffer {
  const { video: now, audio: sound } = part.tracks
  const isVideoOf = now !== null && now.kind === tracks.video?.kind
  const isAudioOf =
    sound !== null && sound.codec === tracks.audio?.codec && sound.sampleRate === tracks.audio.sampleRate
  const inBand = now === tracks.video ? null : (now?.inBand ?? null)
  const video = part.video.map((sample): Sample => {
    const data = sample.key && inBand ? Buffer.concat([inBand, sample.data]) : sample.data
    return { ...sample, data }
  })
  const audio = part.audio.map((frame): Sample => ({ ...frame, offset: 0, key: true }))
  return fragment(sequence, { video: isVideoOf ? video : [], audio: isAudioOf ? audio : [] })
}
