import { UploadRecords } from '#server/domains/media/files/model'
import { newUploadFields } from '#server/domains/media/uploads/store'
import type { Node } from '#server/kernel/context'
import { addressOf } from '#server/ports/storage/port'
import type { Booted } from './boot.ts'

/** Stores a file of somebody under a key of the test's own, as an upload does; returns its address. */
export async function storeFile(
  node: Node,
  owner: string,
  key: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const url = addressOf(node.settings.storageUrl, key)
  const about = { owner, bytes: bytes.length, vector: key, content: key, url }
  await UploadRecords.create({ _id: key, ...about, ...newUploadFields(node), stored_at: new Date(node.now()) })
  await node.services.storage?.put(key, new Blob([bytes]))
  return url
}

/** The same, on the first node of a server. */
export async function storeFileOn({ apps: [app] }: Booted, owner: string, key: string, bytes: Uint8Array<ArrayBuffer>) {
  if (!app) throw new Error('No node')
  return storeFile(app.node, owner, key, bytes)
}
