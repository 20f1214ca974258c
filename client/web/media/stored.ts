import { decryptMedia } from '#client/sdk/media'
import { useSession } from '../accounts/session.ts'
import { mediaTexts as t } from '../texts/media.ts'

/** Says of an address how the storage of this server has the file: to be shown as it is, or to be opened first. Null where it is elsewhere: nothing of there is loaded. */
export function useStoredAs(): (url: string) => 'shown' | 'sealed' | null {
  const { status } = useSession()
  const base = status ? status.media : `${location.origin}/files/`
  return (url) => {
    if (!base || !url.startsWith(base) || !URL.canParse(url) || new URL(url).href !== url) return null
    return url.slice(base.length).startsWith('media/') ? 'shown' : 'sealed'
  }
}

/** The address of somebody's own picture, where it is stored here to be shown; null where it is not, and something else is shown. */
export function useStoredPicture(url: string | null | undefined): string | null {
  const storedAs = useStoredAs()
  return url && storedAs(url) === 'shown' ? url : null
}

interface Sealed {
  url: string
  type: string
  /** The 32 bytes that it was sealed by. */
  key: Promise<Uint8Array>
}

/** Loads what was sealed for a conversation, and opens it. */
export async function openSealed({ url, type, key: opening }: Sealed): Promise<Blob> {
  const [key, sealed] = await Promise.all([opening, load(url)])
  return decryptMedia(sealed, key, type).catch(() => {
    throw new Error(t.faults.damaged)
  })
}

/** Loads a file as it is stored. Rejects in words for the person. */
export async function load(url: string): Promise<Blob> {
  const response = await fetch(url, { credentials: 'omit' }).catch(() => null)
  if (!response) throw new Error(t.faults.notLoaded)
  if (!response.ok) throw new Error(faultOf(response.status))
  return response.blob()
}

/** Storages of others answer 403 for what they do not have. */
const isMissing = (status: number) => [403, 404, 410].includes(status)
const faultOf = (status: number) => (isMissing(status) ? t.faults.missing : t.faults.storage)

/** Why a picture was not shown, in words. */
export async function whyNotShown(url: string): Promise<string> {
  const response = await fetch(url, { method: 'HEAD', credentials: 'omit' }).catch(() => null)
  if (!response) return t.faults.notLoaded
  return response.ok ? t.faults.notPicture : faultOf(response.status)
}
