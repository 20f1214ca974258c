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
