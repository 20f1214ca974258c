import { type UploadContext, uploadContexts } from '#shared/api/uploads'

/** A sealed picture is what its message says it is. */
export type Stored = 'sealed' | 'voice' | 'photo' | 'gif' | 'pixel_art'

/** A folder of the storage, and what its files are in a message; null where no message names them. */
export interface StorageFolder {
  bucket: 'chat-images' | 'chat-voice' | 'media'
  folder: string
  stored: Stored | null
}

const shown = (folder: string, stored: Stored | null = null): StorageFolder => ({ bucket: 'media', folder, stored })

export const folders = {
  image: { bucket: 'chat-images', folder: 'encrypted', stored: 'sealed' },
  voice: { bucket: 'chat-voice', folder: 'voice', stored: 'voice' },
  pixelArt: shown('pixel-art', 'pixel_art'),
  avatar: shown('avatar'),
  icon: shown('icon'),
  bugReport: shown('bug-report'),
  /** Of reports: served to nobody by an address. */
  evidence: shown('private'),
} as const satisfies Record<string, StorageFolder>

export const pictureFolder = (context: UploadContext) => shown(context, 'photo')

export const allFolders: readonly StorageFolder[] = [...Object.values(folders), ...uploadContexts.map(pictureFolder)]
export const buckets = [...new Set(allFolders.map(({ bucket }) => bucket))]
