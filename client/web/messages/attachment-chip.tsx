import { isolated } from '../kit/format.ts'

/** A link to an attachment. The sender chooses its name, so the host it leads to is shown beside it. */
export function AttachmentChip({ url, name, home }: { url: string; name?: string | undefined; home?: string }) {
  const { host, pathname } = new URL(url)
  const isOutside = host !== (home ?? globalThis.location?.host)
  return (
    <a className="chip" href={url} title={isolated(url)} target="_blank" rel="noopener noreferrer nofollow">
      <bdi>{isolated(name ?? pathname.split('/').at(-1) ?? '')}</bdi>
      {isOutside && <bdi className="quiet">{host}</bdi>}
    </a>
  )
}
