import { createHash } from 'node:crypto'

/** How many documents a collection has, and a checksum of them all that does not depend on their order. */
export interface Sum {
  count: number
  checksum: string
}
export type Sums = Readonly<Record<string, Sum>>

const digestBytes = 32

export function createTally() {
  let count = 0
  const checksum = Buffer.alloc(digestBytes)
  return {
    add(document: Buffer | string): void {
      const digest = createHash('sha256').update(document).digest()
      for (let at = 0; at < digestBytes; at++) checksum[at] = (checksum[at] ?? 0) ^ (digest[at] ?? 0)
      count++
    },
    sum: (): Sum => ({ count, checksum: checksum.toString('hex') }),
  }
}

/** Throws the first difference, in words. */
export function checkSame(wanted: Sums, found: Sums): void {
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(found)])) {
    const [one, other] = [wanted[name], found[name]]
    if (one?.count !== other?.count)
      throw new CopyError(`${name} should have ${one?.count ?? 0} documents and has ${other?.count ?? 0}.`)
    if (one?.checksum !== other?.checksum) throw new CopyError(`The documents of ${name} are not what they were.`)
  }
}

/** Thrown with one plain sentence for the operator. */
export class CopyError extends Error {
  override readonly name = 'CopyError'
}
