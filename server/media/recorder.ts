import { type FileHandle, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '#server/kernel/make-directory'
import { finalize } from './finalize.ts'
import { fragment, initSegment } from './fmp4.ts'
import type { Fragment } from './live.ts'
import { isPlayable, type RecordedAsset } from './messages.ts'
import type { Sample, Tracks } from './tracks.ts'

interface Recording {
  add(part: Fragment): void
  /** When all is written. Throws what kept it from being written. */
  end(): Promise<void>
}

const mostWaitingBytes = 16 * 2 ** 20

/** Fragments of a publisher, readable up to a break. Other picture sizes bring their description. Nothing is written before `after`. */
function createRecording(path: string, after: Promise<void> = Promise.resolve()): Recording {
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

/** What one recording has at most; what is published beyond is shown and not kept. */
const longestRecording = { seconds: 12 * 3_600, bytes: 20 * 2 ** 30 }

export interface RecorderOptions {
  directory: string
  limits?: typeof longestRecording
  wall(): number
  newId(): string
  tell(asset: RecordedAsset): void
}

export interface Recorder {
  begin(streamId: string): { add(part: Fragment): void; end(): void }
  assets(streamId: string): RecordedAsset[]
  path(assetId: string): string | null
  remove(streamId: string): Promise<void>
  /** Resolves when all announced data is written. */
  flush(): Promise<void>
  /** When all recordings are made as well. */
  close(): Promise<void>
}

type Row = Omit<RecordedAsset, 'startedAt'> & { startedAt: string }

/** Recordings in a folder, each with a row of its progress. Those after a crash are finished now. */
export async function openRecorder(options: RecorderOptions): Promise<Recorder> {
  const { directory, wall, newId, tell, limits = longestRecording } = options
  await makeDirectory(directory)
  const assets = new Map<string, RecordedAsset>()
  const recorded = new Set<string>()
  const open = new Set<Promise<void>>()
  let turn: Promise<void> = Promise.resolve()
  let rows: Promise<void> = Promise.resolve()
  const place = (assetId: string, kind: 'json' | 'parts' | 'mp4') => join(directory, `${assetId}.${kind}`)

  /** Rows are written in turn; on a full disk one may lag behind. */
  function keep(asset: RecordedAsset): Promise<void> {
    const path = place(asset.assetId, 'json')
    rows = rows.then(async () => {
      if (!assets.has(asset.assetId)) return
      assets.set(asset.assetId, asset)
      const write = writeFile(`${path}.new`, JSON.stringify(asset), { mode: 0o600 })
      await write.then(() => rename(`${path}.new`, path)).catch(() => undefined)
      if (!recorded.has(asset.assetId)) tell(asset)
    })
    return rows
  }

  /** One after the other, as each takes a thread. */
  function make(asset: RecordedAsset): void {
    turn = turn.then(async () => {
      const { assetId } = asset
      if (!assets.has(assetId)) return
      try {
        if (((await stat(place(assetId, 'parts')).catch(() => null))?.size ?? 0) === 0)
          throw new Error(asset.error ?? 'Nothing was recorded')
        await keep({ ...asset, phase: 'processing' })
        let told = 0
        const made = await finalize(place(assetId, 'parts'), place(assetId, 'mp4'), (progress) => {
          if (progress < told + 0.1) return
          told = progress
          void keep({ ...asset, phase: 'processing', progress })
        })
        // What was not written to its end is no whole recording, though what there is of it can be played.
        await keep({ ...asset, phase: asset.error ? 'failed' : 'ready', progress: 1, ...made })
        await rm(place(assetId, 'parts'), { force: true })
      } catch (error) {
        // The write error says more than a failed finish.
        await keep({ ...asset, phase: 'failed', error: asset.error ?? textOf(error) })
      }
    })
  }

  async function close(asset: RecordedAsset, recording: Recording): Promise<void> {
    const error = await recording.end().then(() => null, textOf)
    recorded.delete(asset.assetId)
    await keep({ ...asset, error })
    make({ ...asset, error })
  }

  async function flush(): Promise<void> {
    await Promise.all(open)
    await rows
  }

  for (const file of await readdir(directory)) {
    if (!file.endsWith('.json')) continue
    const row = await readFile(join(directory, file), 'utf8').then(parseRow, () => null)
    if (row) assets.set(row.assetId, row)
  }
  for (const asset of assets.values()) {
    if (asset.phase === 'waiting' || asset.phase === 'processing') make(asset)
    else if (isPlayable(asset)) await rm(place(asset.assetId, 'parts'), { force: true })
  }

  return {
    begin(streamId) {
      let recording: Recording | null = null
      let asset: RecordedAsset | null = null
      let isFull = false
      let [seconds, bytes] = [0, 0]
      function end(): void {
        if (!recording || !asset) return
        const closing = close(asset, recording).finally(() => open.delete(closing))
        open.add(closing)
        recording = null
      }
      return {
        add(part) {
          if (isFull) return
          if (!recording) {
            const startedAt = new Date(wall() - part.duration * 1000)
            const none = { durationSeconds: null, sizeBytes: null, error: null }
            asset = { assetId: newId(), streamId, phase: 'waiting', progress: 0, startedAt, ...none }
            recorded.add(asset.assetId)
            assets.set(asset.assetId, asset)
            // Without its row a recording is lost in a crash.
            recording = createRecording(place(asset.assetId, 'parts'), keep(asset))
          }
          recording.add(part)
          ;[seconds, bytes] = [seconds + part.duration, bytes + part.data.length]
          isFull = seconds >= limits.seconds || bytes >= limits.bytes
          if (isFull) end()
        },
        end,
      }
    },
    assets: (streamId) =>
      [...assets.values()].filter((asset) => asset.streamId === streamId && !recorded.has(asset.assetId)),
    path(assetId) {
      const asset = assets.get(assetId)
      return asset && isPlayable(asset) ? place(assetId, 'mp4') : null
    },
    async remove(streamId) {
      for (const { assetId } of [...assets.values()].filter((asset) => asset.streamId === streamId)) {
        assets.delete(assetId)
        for (const kind of ['json', 'parts', 'mp4'] as const) await rm(place(assetId, kind), { force: true })
      }
    },
    flush,
    async close() {
      await flush()
      await turn
      await rows
    },
  }
}

/** Without the path, which is nobody's business. */
const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).replace(/ '\/.*$/s, '')

function parseRow(text: string): RecordedAsset | null {
  try {
    const row = JSON.parse(text) as Row
    return { ...row, startedAt: new Date(row.startedAt) }
  } catch {
    return null
  }
}
