import type { Request } from 'express'

/** The one part of a file that is asked for; several at once, or a part of another version, are answered with all of it. */
export function rangeOf(
  request: Request,
  etag: string,
  size: number,
): { start: number; end: number } | 'beyond' | null {
  const wanted = request.get('if-range')
  if (request.method !== 'GET' || (wanted !== undefined && wanted !== etag)) return null
  // A part that ends before it begins is none, so all of it is answered (RFC 9110, 14.1.1).
  const [, first, last] = /^bytes=\s*(\d+)-(\d+)\s*$/.exec(request.get('range') ?? '') ?? []
  if (first !== undefined && Number(last) < Number(first)) return null
  // Of a file that is shorter than the end that is asked for, all of it is that end (14.1.2).
  const [, suffix] = /^bytes=\s*-(\d+)\s*$/.exec(request.get('range') ?? '') ?? []
  if (suffix !== undefined && Number(suffix) >= size && size > 0) return { start: 0, end: size - 1 }
  const ranges = request.range(size)
  if (ranges === -1) return 'beyond'
  if (typeof ranges !== 'object' || ranges.type !== 'bytes' || ranges.length !== 1) return null
  return ranges[0] ?? null
}
