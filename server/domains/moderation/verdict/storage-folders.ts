import { type UploadContext, uploadContexts } from '#shared/api/uploads'

/** The stored kind of a file; a sealed picture is trusted to be one. */
export type Stored = 'sealed' | 'sealed_voice' | 'voice' | 'photo' | 'gif' | 'pixel_art'

/** A storage folder, and the kind of its files in messages; null if messages name none. */
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
  /** Evidence of reports, which no URL serves. */
  evidence: shown('private'),
} as const satisfies Record<string, StorageFolder>

/** The folder of public pictures and voice messages; the extension tells the kind. */
export const shownFolder = (context: UploadContext) => shown(context, 'photo')
const byEnding: Readonly<Record<string, Stored>> = { gif: 'gif', weba: 'voice', ogg: 'voice', m4a: 'voice' }

/** The kind of a file with this name in such a folder. */
export const storedAs = (stored: Stored, name: string): Stored =>
  (stored === 'photo' ? byEnding[name.slice(name.lastIndexOf('.') + 1)] : undefined) ?? stored

export const allFolders: readonly StorageFolder[] = [...Object.values(folders), ...uploadContexts.map(shownFolder)]
export const buckets = [...new Set(allFolders.map(({ bucket }) => bucket))]
