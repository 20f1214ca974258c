import { isWebAddress } from '#shared/kit/web-address'
import { isolated } from '../kit/format.ts'
import { outward } from './outer-link.tsx'

/** A link to an attachment. The sender chooses its name, so the host it leads to is shown beside it. */
export function AttachmentChip({ url, name, home }: { url: string; name?: string | undefined; home?: string }) {
  const { host, pathname } = new URL(url)
  const isOutside = host !== (home ?? globalThis.location?.host)
  const inside = (
    <>
      <bdi>{isolated(name ?? pathname.split('/').at(-1) ?? '')}</bdi>
      {isOutside && <bdi className="quiet">{host}</bdi>}
    </>
  )
  if (!isWebAddress(url)) return <span className="chip">{inside}</span>
  return (
    <a className="chip" href={url} title={isolated(url)} {...outward}>
      {inside}
    </a>
  )
}
