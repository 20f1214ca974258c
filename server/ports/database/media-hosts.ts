import mongoose from 'mongoose'
import type { HeldStream, MediaHosts } from '#server/ports/video/port'

interface Row {
  _id: string
  url: string
  is_named: boolean
  rtmp_url: string
  signs_bodies?: boolean
  seen_at: Date
}

interface StreamRow {
  _id: string
  playback_id: string
  digest: string
  record: boolean
  host: string
  is_moved: boolean
  ended_at: Date | null
}

const aliveMilliseconds = 10_000
const keptSeconds = 60
/** For so long the end of a stream can be watched, and longer. */
const endShownSeconds = 120

/** The hosts of livestreams on this database, by its own clock, and the streams they have. */
export function mediaHosts(): MediaHosts {
  let indexes: Promise<unknown> | null = null
  function collection<Of extends Row | StreamRow>(name: string) {
    const { db } = mongoose.connection
    if (!db) throw new Error('The database is not connected.')
    return db.collection<Of>(name)
  }
  const rows = () => collection<Row>('media_hosts')
  const streams = () => collection<StreamRow>('media_streams')
  async function build(): Promise<void> {
    indexes ??= Promise.all([
      rows().createIndex({ seen_at: 1 }, { expireAfterSeconds: keptSeconds }),
      streams().createIndex({ ended_at: 1 }, { expireAfterSeconds: endShownSeconds }),
      ...['playback_id', 'digest', 'is_moved'].map((field) => streams().createIndex({ [field]: 1 })),
    ])
    await indexes.catch((error: unknown) => {
      indexes = null
      throw error
    })
  }
  return {
    async tell({ id, url, isNamed, rtmpUrl, signsBodies }) {
      await build()
      const said = { url, is_named: isNamed, rtmp_url: rtmpUrl, signs_bodies: signsBodies }
      const change = { $set: said, $currentDate: { seen_at: true } } as const
      await rows().updateOne({ _id: id }, change, { upsert: true })
    },
    async live() {
      // Not every database that speaks as MongoDB does counts with dates.
      const found = await rows()
        .aggregate<Row & { now: Date }>([{ $addFields: { now: '$$NOW' } }])
        .toArray()
      const alive = found.filter(({ seen_at, now }) => now.getTime() - seen_at.getTime() < aliveMilliseconds)
      return alive.map(({ _id: id, url, is_named: isNamed, rtmp_url: rtmpUrl, signs_bodies }) => ({
        ...{ id, url, isNamed, rtmpUrl },
        signsBodies: signs_bodies === true,
      }))
    },
    forget: async ({ id, url }) => void (await rows().deleteOne({ _id: id, url })),

    async keep({ streamId: _id, playbackId: playback_id, digest, record, host }) {
      await streams().insertOne({ _id, playback_id, digest, record, host, is_moved: false, ended_at: null })
    },
    moved: async () => (await streams().find({ is_moved: true }).toArray()).map(heldOf),
    async find(name, digest) {
      const named = [{ _id: name }, { playback_id: name }, { digest }]
      const found = await streams().findOne({ $or: named, ended_at: null })
      return found && heldOf(found)
    },
    async move(streamId, from, to) {
      const open = { _id: streamId, host: from, ended_at: null }
      await streams().updateOne(open, { $set: { host: to, is_moved: true } })
    },
    end: async (streamId) =>
      void (await streams().updateOne({ _id: streamId, ended_at: null }, { $currentDate: { ended_at: true } })),
  }
}

const heldOf = ({ _id: streamId, playback_id, digest, record, host, ended_at }: StreamRow): HeldStream => ({
  ...{ streamId, playbackId: playback_id, digest, record, host },
  isOpen: ended_at === null,
})
