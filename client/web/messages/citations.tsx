import { createContext } from 'react'
import type { Citation } from '#shared/api/agents/run-frames'
import { isWebAddress, unsaidHost } from '#shared/kit/addresses'
import { isolated } from '../kit/format.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './messages.module.css'
import { outward } from './outer-link.tsx'

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
  if (!isWebAddress(url))
    return (
      <span className={styles.cite} title={isolated(title)}>
        <span className="unseen">{t.source} </span>
        {n}
      </span>
    )
  const host = unsaidHost(url, title)
  const of = { number: n, title: isolated(title) }
  const words = host ? t.sourceAt({ ...of, host }) : t.sourceOf(of)
  return (
    <a className={styles.cite} href={url} title={words} aria-label={words} {...outward}>
      {n}
    </a>
  )
}
