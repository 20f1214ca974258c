/**
 * Whether a text is a complete web address: `http://` or `https://`, and a host. Addresses that browsers would repair are not, nor
 * are those with a user before the host, as in `https://bank.example@evil.example`.
 */
export const isWebAddress = (address: string): boolean =>
  /^https?:\/\/(?!\s)[^/\\?#@]+(?![^/?#])/i.test(address) && URL.canParse(address)

/** The host of a web address, as a browser reads it; null if its words are that very address. */
export function unsaidHost(address: string, words: string): string | null {
  const { host } = new URL(address)
  const said = bare(words)
  const [saidHost = ''] = said.split(/[/?#]/, 1)
  return said === bare(address) && saidHost.toLowerCase() === host ? null : host
}

const bare = (address: string): string => address.replace(/^https?:\/\//i, '').replace(/\/$/, '')

const written = /(?<![a-z])https?:\/\/(?:(?!\]\()[^\s<>])+/gi
const trailing = /[?!.,:;*_~'"]/
const reference = /&[a-z\d]+;$/i

/** Where a text has web addresses, by GitHub's specification of extended autolinks, in UTF-16 units. */
export function addressesIn(text: string): { start: number; end: number }[] {
  return [...text.matchAll(written)].flatMap(({ 0: found, index }) => {
    const address = withoutTrail(found)
    return isWebAddress(address) ? [{ start: index, end: index + address.length }] : []
  })
}

/** Marks at the end belong to the sentence, and so does a bracket that was opened before the address. */
function withoutTrail(address: string): string {
  const open = { ')': surplus(address, '(', ')'), ']': surplus(address, '[', ']') }
  let end = address.length
  for (; end > 0; end -= 1) {
    const last = address.charAt(end - 1)
    if (last === ')' || last === ']') {
      if (open[last] <= 0) break
      open[last] -= 1
    } else if (last === ';') end -= (reference.exec(address.slice(Math.max(0, end - 40), end))?.[0].length ?? 1) - 1
    else if (!trailing.test(last)) break
  }
  return address.slice(0, end)
}

/** How many more close than open. */
const surplus = (text: string, opens: string, closes: string): number =>
  text.split(closes).length - text.split(opens).length

const addressAtMost = 2_000

/** A web address as browsers send it; null for other schemes, with a user, or without an address. */
export function webAddress(value: string): string | null {
  if (value.length > addressAtMost || !URL.canParse(value)) return null
  const { protocol, username, password, href } = new URL(value)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && username === '' && password === '' && href.length <= addressAtMost ? href : null
}

/** Is the address of this host, or of one below it? */
export function isOfHost(address: string, host: string): boolean {
  const { hostname } = new URL(address)
  return hostname === host || hostname.endsWith(`.${host}`)
}
