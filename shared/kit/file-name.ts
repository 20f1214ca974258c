import { isVisible } from './primitives.ts'

/** In UTF-8. A key has the name in base64, and file systems take 255 bytes for its last part. */
const mostBytes = 150
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
/** Characters that some systems forbid in names. */
const forbidden = /[<>:"|?*]/g
const outerDots = /^[\s.]+|[\s.]+$/g
const usualName = 'file'

/** The name of a file without its path, invisible characters and signs of direction. A long one is cut before its ending. */
export function cleanFileName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  const line = last.replace(/\s/g, ' ').replace(unseen, '').normalize('NFC').replace(forbidden, '_')
  const name = line.replace(/ +/g, ' ').replace(outerDots, '')
  if (!isVisible(name)) return usualName
  if (bytesOf(name) <= mostBytes) return name
  const ending = /\.[^.\s]{1,16}$/u.exec(name)?.[0] ?? ''
  let stem = [...name.slice(0, name.length - ending.length)]
  while (bytesOf(stem.join('')) + bytesOf(ending) > mostBytes) stem = stem.slice(0, -1)
  return `${stem.join('')}${ending}`.replace(outerDots, '')
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** A name as a part of a key. */
export const namePart = (name: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(name)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const namedFile = /(?:^|\/)media\/file\/[^/]+\/[^./]+\.([\w-]+)\.[a-z\d]+$/

/** The name of a file by its key or address; null for what has no name. */
export function fileNameIn(place: string): string | null {
  const part = namedFile.exec(place)?.[1]
  if (part === undefined) return null
  try {
    const bytes = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)))
  } catch {
    return null
  }
}

/** The header `Content-Disposition` of a stored file: a download under its own name, if it has one. */
export function fileDispositionOf(place: string): string {
  const name = fileNameIn(place)
  if (name === null) return 'attachment'
  // Clients that do not read the second form get the name without its other letters.
  const plain = name.replace(/[^ -~]|[%"\\]/g, '_')
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${whole}`}`
}

/** The content type of a stored file by the ending of its key or address. Others are downloaded, never shown. */
export const fileTypeOf = (place: string): string =>
  types[/\.([a-z\d]+)$/.exec(place)?.[1] ?? ''] ?? 'application/octet-stream'

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  weba: 'audio/webm',
  ogg: 'audio/ogg',
  m4a: 'audio/mp4',
  avif: 'image/avif',
  heic: 'image/heic',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  pdf: 'application/pdf',
}
