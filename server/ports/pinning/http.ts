import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { isHash, type Pinning } from './port.ts'

const bounds = { timeoutMilliseconds: 10_000, maxBytes: 64 * 1024 }
const Hash = z.string().refine(isHash)
/** The hash is called `IpfsHash` by pinning services, and `Hash` by a node of IPFS (`/api/v0/add`). */
const Pinned = z.union([
  z.object({ IpfsHash: Hash }).transform(({ IpfsHash }) => IpfsHash),
  z.object({ Hash }).transform((answer) => answer.Hash),
])

/** A service that takes the file of a form: one URL, asked with a bearer key where there is one. */
export const httpPinning = (url: string, key: string | undefined, gateways: readonly string[]): Pinning => ({
  async pin(name, file) {
    const body = new FormData()
    body.set('file', file, name)
    const headers = { accept: 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }
    const { status, text } = await fetchText(url, { method: 'POST', headers, body }, bounds)
    const pinned = Pinned.safeParse(status === 200 ? readJson(text) : null)
    if (!pinned.success) throw new AppError('UPSTREAM_ERROR', { message: 'The file could not be pinned' })
    return pinned.data
  },
  urlsOf: (hash) => gateways.map((gateway) => `${gateway.replace(/\/+$/, '')}/ipfs/${hash}`),
})

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
