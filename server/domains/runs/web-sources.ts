import type { Node } from '#server/kernel/context'
import type { WebSource } from '#shared/api/run-frames'
import { cut } from '#shared/kit/cut'

const longestUrl = 2_048
const longestTitle = 200

/** A page that a model names, as it may be shown; null where its link may not be. */
export function shownSource(node: Node, { url, title }: WebSource): WebSource | null {
  const link = url.length <= longestUrl && URL.canParse(url) ? new URL(url) : null
  if (!link || !/^https?:$/.test(link.protocol) || link.username !== '' || link.password !== '') return null
  if (!node.services.web.isPublic(link.href)) return null
  const line = title
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return { url: link.href, title: cut(line, longestTitle) || link.host }
}
