import type { ReactNode } from 'react'
import { isWebAddress, unsaidHost } from '#shared/kit/web-address'
import { isolated } from '../kit/format.ts'

/** Of each link that leads out of the page: it gets no referrer and no opener, and search engines are told not to follow it. */
export const outward = { target: '_blank', rel: 'noopener noreferrer nofollow' } as const

interface OuterLinkProps {
  href: string
  /** What somebody wrote for it; the host beside it is where it leads. Absent where this page itself says what the link is. */
  words?: string
  children?: ReactNode
}

/** A link to somewhere on the web; its words alone where the page links no such address. */
export function OuterLink({ href, words, children }: OuterLinkProps) {
  if (!isWebAddress(href)) return <span>{children}</span>
  const host = words === undefined ? null : unsaidHost(href, words)
  return (
    <a href={href} title={isolated(href)} {...outward}>
      {children}
      {host && (
        <>
          {' '}
          <bdi className="leads-to">({host})</bdi>
        </>
      )}
    </a>
  )
}
