import { type UploadContext, uploadContexts } from '#shared/api/media/uploads'

/** The stored kind of a file; a sealed picture is trusted to be one. */
export type StoredKind = 'sealed' | 'sealed_voice' | 'voice' | 'photo' | 'gif' | 'pixel_art' | 'file'

/** A storage folder, and the kind of its files in messages; null if messages name none. */
export interface StorageFolder {
  bucket: 'chat-images' | 'chat-voice' | 'media'
  folder: string
  stored: StoredKind | null
}

const mediaFolder = (folder: string, stored: StoredKind | null = null): StorageFolder => ({
  bucket: 'media',
  folder,
  stored,
})

export const storageFolders = {
  image: { bucket: 'chat-images', folder: 'encrypted', stored: 'sealed' },
  voice: { bucket: 'chat-voice', folder: 'voice', stored: 'sealed_voice' },
  pixelArt: mediaFolder('pixel-art', 'pixel_art'),
  /** Files of any type, which are stored as they are. */
  file: mediaFolder('file', 'file'),
  avatar: mediaFolder('avatar'),
  icon: mediaFolder('icon'),
  bugReport: mediaFolder('bug-report'),
  /** Evidence of reports, which no URL serves. */
  evidence: mediaFolder('private'),
} as const satisfies Record<string, StorageFolder>

/** The folder of public pictures and voice messages; the extension tells the kind. */
export const publicFolder = (context: UploadContext) => mediaFolder(context, 'photo')
const byEnding: Readonly<Record<string, StoredKind>> = { gif: 'gif', weba: 'voice', ogg: 'voice', m4a: 'voice' }

/** The kind of a file with this name in such a folder. */
export const storedKindOf = (stored: StoredKind, name: string): StoredKind =>
  (stored === 'photo' ? byEnding[name.slice(name.lastIndexOf('.') + 1)] : undefined) ?? stored

export const allFolders: readonly StorageFolder[] = [
  ...Object.values(storageFolders),
  ...uploadContexts.map(publicFolder),
]
export const buckets = [...new Set(allFolders.map(({ bucket }) => bucket))]
