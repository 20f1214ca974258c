import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'

export const eventLinks = ['event_url', 'rsvp_url', 'source_url', 'organizer_logo_url'] as const

/** Refuses links to this machine or a private network, and those that hide where they lead: whoever is shown one would ask there. */
export function refuseInner<Name extends string>(
  node: Node,
  fields: { readonly [Field in Name]?: string | null | undefined },
  names: readonly Name[],
): void {
  for (const name of names) {
    const url = fields[name]
    if (url && !node.services.web.isPublic(url))
      throw new AppError('INVALID_PARAMETER', {
        message: `${name}: the URL must be a plain one, without user or port, of a host on the public internet`,
      })
  }
}

/** The same fields, without such links. */
export function withoutInner<Name extends string, Fields extends { [Field in Name]: string | null }>(
  node: Node,
  fields: Fields,
  names: readonly Name[],
): Fields {
  const inner = names.filter((name) => fields[name] !== null && !node.services.web.isPublic(fields[name]))
  return { ...fields, ...Object.fromEntries(inner.map((name) => [name, null])) }
}
