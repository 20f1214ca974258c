import { cut } from '#shared/kit/cut'

const longestTitle = 200
const hosts = ['github.com', 'gitlab.com', 'bitbucket.org']

type ContentType = 'webpage' | 'github' | 'docs'

/** A repository of a code host, or a file in it. */
interface Place {
  host: string
  owner: string
  name: string
  file: string | null
}

function placeOf({ hostname, pathname }: URL): Place | null {
  const host = hostname.replace(/^www\./, '')
  if (!hosts.includes(host)) return null
  const [owner, name, ...rest] = pathname.split('/').filter((part) => part !== '' && part !== '-')
  if (!owner || !name) return null
  const file = /^(blob|raw|src)$/.test(rest[0] ?? '') && rest.length > 2 ? rest.slice(1).join('/') : null
  return { host, owner, name: name.replace(/\.git$/, ''), file }
}

export function contentTypeOf(url: URL): ContentType {
  if (hosts.includes(url.hostname.replace(/^www\./, ''))) return 'github'
  return /\/\/docs\.|\/docs\/|documentation/i.test(url.href) ? 'docs' : 'webpage'
}

/** The default title of an item. */
export function titleOf(url: URL): string {
  const place = placeOf(url)
  if (place) return `${place.owner}/${place.name}`
  const last = url.pathname.split('/').filter(Boolean).at(-1) ?? ''
  const words = decoded(last).replace(/[-_]+/g, ' ').trim()
  return cut(words, longestTitle) || url.hostname
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The raw URL of a repository's text; null for other URLs. */
export function rawUrlOf(url: URL): string | null {
  const place = placeOf(url)
  if (!place) return null
  const { host, owner, name, file } = place
  const path = file ?? 'HEAD/README.md'
  if (host === 'github.com') return `https://raw.githubusercontent.com/${owner}/${name}/${path}`
  return `https://${host}/${owner}/${name}/${host === 'gitlab.com' ? '-/' : ''}raw/${path}`
}

/** The raw root of the repository, within which links are read. */
export function rawRootOf(raw: string): string {
  const { origin, pathname } = new URL(raw)
  const parts = pathname.split('/')
  const end = origin === 'https://raw.githubusercontent.com' ? 4 : parts.indexOf('raw') + 2
  return `${origin}${parts.slice(0, end).join('/')}/`
}
