import { createContext } from 'react'
import type { Citation } from '#shared/api/run-frames'
import { isWebAddress } from '#shared/kit/addresses'

/** What a text cites by `[n]`, and whether it stands within a link, which holds no other. */
interface Inline {
  citations: readonly Citation[]
  isInLink: boolean
}
export const InlineContext = createContext<Inline>({ citations: [], isInLink: false })
export const inLink: Inline = { citations: [], isInLink: true }

/** The number of a source: a link to it where it has an address. */
export function CitationChip({ source }: { source: Citation }) {
  const { n, title, url } = source
  const words = `Source ${n}: ${title}`
  if (!isWebAddress(url))
    return (
      <span className="cite" title={title}>
        <span className="unseen">Source </span>
        {n}
      </span>
    )
  return (
    <a className="cite" href={url} title={words} aria-label={words} target="_blank" rel="noopener noreferrer nofollow">
      {n}
    </a>
  )
}
