import { BlockList, isIP } from 'node:net'
import { AppError } from '#shared/errors'

const longestUrl = 2_048
const ports = ['', '443', '8443']
/** Names that a resolver answers from this machine or its network. */
const innerNames = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home\.arpa|onion)$/

const notPublicV4 = subnets('ipv4', [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
])
const globalV6 = subnets('ipv6', ['2000::/3'])
/** Within those: Teredo and its neighbours, documentation, 6to4. */
const notPublicV6 = subnets('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

function subnets(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Whether an address is one of the public internet. An IPv4 address in the clothes of an IPv6 one never is. */
export function isPublic(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !notPublicV4.check(address)
  if (family !== 6 || address.includes('%')) return false
  return globalV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6')
}

/** Whether the host of a URL is public by its name; nothing is resolved. */
export function leadsOutside(url: string): boolean {
  const host = new URL(url).hostname.replace(/\.$/, '').replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? host.includes('.') && !innerNames.test(host) : isPublic(host)
}

// The parser would take white space and controls out, and turn backslashes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const isPlain = (given: string) => given.length <= longestUrl && !/[\u0000-\u0020\u007f\\]/.test(given)

/** Whether a URL may be shown, as clients open it at once: it must not hide its target. */
export function mayBeShown(given: string): boolean {
  if (!isPlain(given) || !/^https?:\/\/[^/]/i.test(given) || !URL.canParse(given)) return false
  const { username, password, port } = new URL(given)
  return username === '' && password === '' && ports.includes(port) && leadsOutside(given)
}

/** Host names, or `*.example.com` for all below one. */
export type EgressHosts = readonly string[] | null

/** The normalised URL. Throws INVALID_PARAMETER for a forbidden one. */
export function publicUrl(given: string, egress: EgressHosts): URL {
  const isComplete = isPlain(given) && /^https:\/\/[^/]/i.test(given) && URL.canParse(given)
  const url = isComplete ? new URL(given) : null
  if (url === null) throw notAllowed('The URL must be a complete https:// address')
  if (url.username !== '' || url.password !== '') throw notAllowed('The URL must not contain a user or password')
  if (!ports.includes(url.port)) throw notAllowed('The port of the URL must be 443 or 8443')
  url.hash = ''
  url.hostname = url.hostname.replace(/\.$/, '')
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  if (!leadsOutside(url.href)) throw notAllowed('The host of the URL must be on the public internet')
  if (egress !== null && !egress.some((host) => isHost(literal, host)))
    throw notAllowed('The host of the URL is not one that this server may ask')
  return url
}

const isHost = (name: string, host: string) => (host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host)
const notAllowed = (message: string) => new AppError('INVALID_PARAMETER', { message })
