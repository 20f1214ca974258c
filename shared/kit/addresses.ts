/**
 * An address that begins with `http://` or `https://` and a host, as it is written: what a browser would repair into one is none. Nor is one
 * that names a user before its host, as `https://bank.example@evil.example` does.
 */
export const isWebAddress = (address: string): boolean =>
  /^https?:\/\/(?!\s)[^/\\?#@]+(?![^/?#])/i.test(address) && URL.canParse(address)

/** The host to which a web address leads, as a browser reads it; null where its words are that very address. */
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
