import type { Node } from '#server/kernel/context'
import type { VideoAsset } from '#server/ports/video/port'
import { type StoredAsset, type StoredStream, StreamAssets, Streams } from './model.ts'
import { notifyWatchers } from './notices.ts'

export const assetsOf = (stream: string): Promise<StoredAsset[]> =>
  StreamAssets.find({ stream }).sort({ recorded_from: 1, _id: 1 }).limit(100).lean<StoredAsset[]>()

/** Stores a recording as the provider reports it, and notifies the watchers of the stream. */
export async function keepAsset(node: Node, asset: VideoAsset): Promise<void> {
  const stream = await Streams.findOne({ stream_id: asset.streamId }, { _id: 1 }).lean<Pick<StoredStream, '_id'>>()
  if (stream) await store(node, stream._id, asset)
}

/** Loads the recordings from the provider. If it does not answer, the stored rows stay. */
export async function refreshAssets(node: Node, { _id, stream_id }: StoredStream): Promise<void> {
  const assets = await node.services.video?.assets(stream_id).catch(() => [])
  for (const asset of assets ?? []) await store(node, _id, asset)
}

/** Reports arrive late, and at several nodes: the recording with the higher rank stays. */
async function store(node: Node, stream: string, asset: VideoAsset): Promise<void> {
  const { assetId: _id } = asset
  const row = {
    ...{ stream, phase: asset.phase, progress: asset.progress, error: asset.error, rank: rankOf(asset) },
    ...{ playback_id: asset.playbackId, playback_url: asset.playbackUrl, download_url: asset.downloadUrl },
    ...{ duration_seconds: asset.durationSeconds, size_bytes: asset.sizeBytes },
    ...{ recorded_from: asset.startedAt, created_at: asset.startedAt },
  }
  const known = await StreamAssets.findOne({ _id }).lean<StoredAsset>()
  if (known && Object.entries(row).every(([name, value]) => String(known[name as keyof StoredAsset]) === String(value)))
    return
  const isStored = known ? false : await StreamAssets.create({ _id, ...row }).then(yes, no)
  const isNewer =
    isStored || (await StreamAssets.updateOne({ _id, rank: { $lte: row.rank } }, { $set: row })).matchedCount
  if (!isNewer) return
  await Streams.updateOne({ _id: stream }, { $inc: { assets_v: 1 } })
  await notifyWatchers(node, stream)
}

const [yes, no] = [() => true, () => false]
const rankOf = ({ phase, progress }: VideoAsset) =>
  ({ waiting: 0, processing: 1 + progress, failed: 3, ready: 3 })[phase]
