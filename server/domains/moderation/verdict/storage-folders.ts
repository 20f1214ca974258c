import { type UploadContext, uploadContexts } from '#shared/api/uploads'

/** A sealed picture is what its message says it is. */
export type Stored = 'sealed' | 'sealed_voice' | 'voice' | 'photo' | 'gif' | 'pixel_art'

/** A folder of the storage, and what its files are in a message; null where no message names them. */
export interface StorageFolder {
  bucket: 'chat-images' | 'chat-voice' | 'media'
  folder: string
  stored: Stored | null
}

const shown = (folder: string, stored: Stored | null = null): StorageFolder => ({ bucket: 'media', folder, stored })

export const folders = {
  image: { bucket: 'chat-images', folder: 'encrypted', stored: 'sealed' },
  voice: { bucket: 'chat-voice', folder: 'voice', stored: 'sealed_voice' },
  pixelArt: shown('pixel-art', 'pixel_art'),
  avatar: shown('avatar'),
  icon: shown('icon'),
  bugReport: shown('bug-report'),
  /** Of reports: served to nobody by an address. */
  evidence: shown('private'),
} as const satisfies Record<string, StorageFolder>

/** Of pictures and voice messages for everybody; what a file of it is, its ending says. */
export const shownFolder = (context: UploadContext) => shown(context, 'photo')
const byEnding: Readonly<Record<string, Stored>> = { gif: 'gif', weba: 'voice', ogg: 'voice', m4a: 'voice' }

/** What a file of this name in such a folder is. */
export const storedAs = (stored: Stored, name: string): Stored =>
  (stored === 'photo' ? byEnding[name.slice(name.lastIndexOf('.') + 1)] : undefined) ?? stored

export const allFolders: readonly StorageFolder[] = [...Object.values(folders), ...uploadContexts.map(shownFolder)]
export const buckets = [...new Set(allFolders.map(({ bucket }) => bucket))]
