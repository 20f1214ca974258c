import { isIP } from 'node:net'

/** The origins a browser may call from. Compared exactly; `null` is never among them. */
export const originRule = (allowed: readonly string[]) => {
  const exact = new Set(allowed)
  return {
    /** A request with neither header is no browser. */
    allows(origin: string | undefined, fetchSite: string | undefined): boolean {
      if (origin !== undefined) return exact.has(origin)
      return fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none'
    },
    has: (origin: string) => exact.has(origin),
  }
}
export type OriginRule = ReturnType<typeof originRule>

/** The address limits are kept by: IPv4 whole, IPv6 by /64, anything else is the socket's own. */
export function addressOf(forwarded: string | undefined, hops: number, remote: string): string {
  const listed = hops > 0 ? (forwarded?.split(',').at(-hops)?.trim() ?? '') : ''
  const chosen = (isIP(listed) ? listed : remote).replace(/^::ffff:/i, '')
  if (isIP(chosen) !== 6) return chosen
  const [head = '', tail = ''] = chosen.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = chosen.includes('::') && tail !== '' ? tail.split(':') : []
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
