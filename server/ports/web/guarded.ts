import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { connect } from 'node:tls'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import { AppError } from '#shared/errors'
import type { Web, WebAnswer, WebRequest } from './port.ts'

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
function leadsOutside(url: string): boolean {
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
type EgressHosts = readonly string[] | null

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

const most = { bytes: 2 * 1024 * 1024, milliseconds: 10_000, redirects: 3, headerBytes: 32 * 1024 }
const unpackers: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}
const redirects = [301, 302, 303, 307, 308]

/** How names are resolved and addresses are dialled; tests put servers of theirs behind public addresses. */
export interface Dialling {
  resolve(host: string): Promise<readonly string[]>
  /** A connection for `host` to one of its addresses, which were checked. */
  dial(addresses: readonly string[], port: number, host: string): Promise<Socket>
}

/**
 * Checks each address of a name when a connection is made, and connects to those alone. A name that changes after its check
 * thus leads nowhere. Proxies of the environment are not used.
 */
export function guardedWeb(egress: EgressHosts, dialling: Dialling = overDns): Web & { close(): Promise<void> } {
  // A start need not wait for the library.
  let agent: Promise<Agent> | undefined

  async function ask(given: string, request: WebRequest = {}): Promise<WebAnswer> {
    const first = publicUrl(given, egress)
    const late = AbortSignal.timeout(Math.min(request.timeoutMilliseconds ?? most.milliseconds, most.milliseconds))
    const signal = request.signal ? AbortSignal.any([late, request.signal]) : late
    try {
      return await follow(first, request, signal)
    } catch (cause) {
      request.signal?.throwIfAborted()
      throw new AppError(late.aborted ? 'TIMEOUT' : 'UPSTREAM_ERROR', { cause })
    }
  }

  async function follow(first: URL, request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    const { method, body, headers, maxBytes, onlyStatus } = request
    const isChange = method !== undefined && method !== 'GET' && method !== 'POST'
    let url = first
    let posted = body
    for (let hop = 0; hop <= most.redirects; hop++) {
      const own = url.origin === first.origin ? headers : {}
      const sent = { ...(posted === undefined ? {} : { 'content-type': 'application/json' }), ...own }
      agent ??= openAgent(dialling)
      const answer = await (await agent).request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: isChange ? method : posted === undefined ? 'GET' : 'POST',
        headers: { 'user-agent': 'plaza', accept: '*/*', 'accept-encoding': 'gzip, deflate, br', ...lowered(sent) },
        body: posted ?? null,
        signal,
      })
      const isFollowed = !isChange && !onlyStatus && redirects.includes(answer.statusCode)
      const next = isFollowed ? answer.headers.location : undefined
      if (typeof next !== 'string')
        return {
          status: answer.statusCode,
          url: url.href,
          headers: flat(answer.headers),
          body: onlyStatus ? unread(answer) : await readAtMost(answer, Math.min(maxBytes ?? most.bytes, most.bytes)),
        }
      unread(answer)
      // A refusal here is the other side's doing, not a parameter's.
      url = publicUrl(new URL(next, url).href, egress)
      if (answer.statusCode < 307) posted = undefined
    }
    throw new Error(`More than ${most.redirects} redirects`)
  }

  return {
    check: (url) => publicUrl(url, egress),
    isPublic: mayBeShown,
    ask,
    close: async () => (await agent)?.destroy(),
  }
}

async function openAgent(dialling: Dialling): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({
    connect: (options, callback) => {
      openTo(dialling, options.hostname.replace(/^\[|\]$/g, ''), Number(options.port || 443)).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      )
    },
    maxHeaderSize: most.headerBytes,
    keepAliveTimeout: 4_000,
  })
}

async function openTo({ resolve, dial }: Dialling, host: string, port: number): Promise<Socket> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  if (addresses.length === 0 || !addresses.every(isPublic)) throw new Error('The host has no public address')
  return dial(addresses, port, host)
}

const overDns: Dialling = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  dial: dialTls,
}

/** TLS with the name of the host, to whichever of the addresses answers first. */
export function dialTls(
  addresses: readonly string[],
  port: number,
  host: string,
  options: { ca?: string } = {},
): Promise<Socket> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...options,
      port,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ['http/1.1'],
      timeout: most.milliseconds,
      lookup: (_host, { all }, callback) =>
        all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family),
    })
    socket.once('secureConnect', () => resolve(socket.setTimeout(0)))
    socket.once('timeout', () => socket.destroy(new Error('The host does not answer')))
    socket.once('error', reject)
  })
}

const lowered = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const flat = (headers: Dispatcher.ResponseData['headers']) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))

/** Closes the connection over which a body would come. */
function unread({ body }: Dispatcher.ResponseData): Uint8Array {
  body.on('error', () => {}).destroy()
  return new Uint8Array()
}

/** Counts what is unpacked, as a small body can become a large one. */
async function readAtMost({ headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let bytes = 0
  const unpacked = unpack(body, String(headers['content-encoding'] ?? ''))
  try {
    for await (const part of unpacked) {
      bytes += part.byteLength
      if (bytes > maxBytes) throw new Error(`The answer is longer than ${maxBytes} bytes`)
      parts.push(part)
    }
  } finally {
    body.on('error', () => {}).destroy()
  }
  return Buffer.concat(parts)
}

function unpack(body: Readable, encoding: string): AsyncIterable<Uint8Array> {
  const named = encoding.trim().toLowerCase()
  if (named === '' || named === 'identity') return body
  const unpacker = unpackers[named]?.() as (NodeJS.ReadWriteStream & { destroy(error?: Error): void }) | undefined
  if (!unpacker) throw new Error('The encoding of the answer is not known')
  body.once('error', (error) => unpacker.destroy(error))
  return body.pipe(unpacker) as AsyncIterable<unknown> as AsyncIterable<Uint8Array>
}
