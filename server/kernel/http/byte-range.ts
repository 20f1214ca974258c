import type { Request } from 'express'

/** The requested range of a file. Several ranges, or a range of another version, get the whole file. */
export function byteRangeOf(
  request: Request,
  etag: string,
  size: number,
): { start: number; end: number } | 'beyond' | null {
  const wanted = request.get('if-range')
  if (request.method !== 'GET' || (wanted !== undefined && wanted !== etag)) return null
  // A range that ends before its start is invalid, so the whole file is sent (RFC 9110, 14.1.1).
  const [, first, last] = /^bytes=\s*(\d+)-(\d+)\s*$/.exec(request.get('range') ?? '') ?? []
  if (first !== undefined && Number(last) < Number(first)) return null
  // A suffix longer than the file is the whole file (14.1.2).
  const [, suffix] = /^bytes=\s*-(\d+)\s*$/.exec(request.get('range') ?? '') ?? []
  if (suffix !== undefined && Number(suffix) >= size && size > 0) return { start: 0, end: size - 1 }
  const ranges = request.range(size)
  if (ranges === -1) return 'beyond'
  if (typeof ranges !== 'object' || ranges.type !== 'bytes' || ranges.length !== 1) return null
  return ranges[0] ?? null
}
