import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Proxies whose `X-Forwarded-For` is trusted: a number of hops, or a list of addresses. */
export type Proxies = number | BlockList

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Reads addresses and networks, such as `10.0.0.0/8`; null if one is invalid. */
export function readProxies(entries: readonly string[]): BlockList | null {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/')
    const most = isIP(address) === 6 ? 128 : 32
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
    if (isIP(address) === 0 || rest.length > 0 || length < 0 || length > most) return null
    list.addSubnet(address, length, familyOf(address))
  }
  return list
}

/** Is the peer of this connection a proxy, which carries the requests of others? */
export const isProxy = (proxies: Proxies, remote: string): boolean =>
  typeof proxies === 'number' ? proxies > 0 : isIP(remote) !== 0 && proxies.check(remote, familyOf(remote))

/**
 * The address that limits count: IPv4 whole, IPv6 by /64. `X-Forwarded-For` is read from its right end, as far as
 * trusted proxies wrote it. At an invalid entry the one before it counts.
 */
export function addressOf(forwarded: string | undefined, proxies: Proxies, remote: string): string {
  const chain = [remote, ...(forwarded?.split(',').reverse() ?? [])].map((entry) => entry.trim())
  let at = 0
  if (typeof proxies === 'number') at = isIP(chain[proxies] ?? '') ? proxies : 0
  else while (isProxy(proxies, chain[at] ?? '') && isIP(chain[at + 1] ?? '')) at++
  return networkOf(chain[at] ?? remote)
}

/** The address of the client that sent a request. */
export const clientAddressOf = ({ headers, socket }: IncomingMessage, proxies: Proxies): string => {
  const forwarded = headers['x-forwarded-for']
  return addressOf(String(forwarded ?? ''), proxies, socket.remoteAddress ?? 'unknown')
}

const mapped = [0, 0, 0, 0, 0, 0xffff]
const translated = [0x64, 0xff9b, 0, 0, 0, 0]

function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const groups = groupsOf(address)
  const begins = (prefix: readonly number[]) => prefix.every((group, at) => groups[at] === group)
  if (begins(mapped) || begins(translated))
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight groups of an IPv6 address, in any spelling. */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`)
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((side) => side.split(':').filter(Boolean))
  const between = Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...between, ...right].map((group) => Number.parseInt(group, 16))
}

const loopbackNames = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/** Does a host name, without its port, name this machine? */
export const isLoopbackName = (hostname: string): boolean => loopbackNames.test(hostname)

/** The host name of a request, without its port. */
export const hostNameOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string =>
  (headers.host ?? '').replace(portOrNothing, '')

const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\.|^::1$/i.test(address)
/** Headers that only proxies, load balancers, tunnels and CDNs add, never browsers or our clients. */
const proxyHeaders =
  /^(forwarded|via|x-(?!(request-id|requested-with|api-key|((user|wallet)-)?address)$).+|(.+-)?(client|connecting|real)-ip|(akamai|ali|cdn|cf|cloudfront|do|fastly|fly|incap|ngrok|proxy|surrogate|tailscale|wl)-.+)$/
const portOrNothing = /:\d{1,5}$/

/**
 * Does the request come from this machine? The peer and the host name are local, and no header shows a proxy. A page
 * that reaches us by DNS rebinding asks for another host name.
 */
export function isLocalRequest({ headers, socket, httpVersion }: IncomingMessage): boolean {
  const { host = '', origin } = headers
  const isNamed = isLoopbackName(hostNameOf({ headers }))
  const isOwnPage = origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`
  const isPassedOn = httpVersion === '1.0' || Object.keys(headers).some((name) => proxyHeaders.test(name))
  return isLoopbackAddress(socket.remoteAddress ?? '') && isNamed && isOwnPage && !isPassedOn
}
