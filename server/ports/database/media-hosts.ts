import mongoose from 'mongoose'
import type { MediaHosts } from '#server/ports/video/port'

interface Row {
  _id: string
  url: string
  is_named: boolean
  rtmp_url: string
  seen_at: Date
}

const aliveMilliseconds = 10_000
const keptSeconds = 60

/** The hosts of livestreams on this database, by its own clock. */
export function mediaHosts(): MediaHosts {
  let isIndexed = false
  const rows = () => {
    const { db } = mongoose.connection
    if (!db) throw new Error('The database is not connected.')
    return db.collection<Row>('media_hosts')
  }
  return {
    async tell({ id, url, isNamed, rtmpUrl }) {
      if (!isIndexed) await rows().createIndex({ seen_at: 1 }, { expireAfterSeconds: keptSeconds })
      isIndexed = true
      const change = { $set: { url, is_named: isNamed, rtmp_url: rtmpUrl }, $currentDate: { seen_at: true } } as const
      await rows().updateOne({ _id: id }, change, { upsert: true })
    },
    async live() {
      // Not every database that speaks as MongoDB does counts with dates.
      const found = await rows()
        .aggregate<Row & { now: Date }>([{ $addFields: { now: '$$NOW' } }])
        .toArray()
      const alive = found.filter(({ seen_at, now }) => now.getTime() - seen_at.getTime() < aliveMilliseconds)
      return alive.map(({ _id: id, url, is_named: isNamed, rtmp_url: rtmpUrl }) => ({ id, url, isNamed, rtmpUrl }))
    },
    forget: async ({ id, url }) => void (await rows().deleteOne({ _id: id, url })),
  }
}
