import { z } from 'zod'

/** What a server says beside the text, which is no reason to refuse the text. */
const list = z.array(z.unknown()).nullish().catch(null)

/** Where chunks name the pages that an answer rests on: chat completions in `annotations`, other servers at the top. */
export const sourceFields = {
  ofChoice: { annotations: list },
  ofChunk: { search_results: list, citations: list },
}

const Page = z.object({ url: z.string(), title: z.string().nullish() })
const Annotation = z
  .object({ type: z.literal('url_citation'), url_citation: Page })
  .transform((one) => one.url_citation)
const Bare = z.string().transform((url) => ({ url, title: null }))
const Source = z.union([Annotation, Page, Bare])

const mostSources = 20

/** Gives of each list the pages that were not named before, up to the most. */
export function newSources(): (
  ...lists: (readonly unknown[] | null | undefined)[]
) => { url: string; title: string }[] {
  const known = new Set<string>()
  return (...lists) =>
    lists.flatMap((told) =>
      (told ?? []).flatMap((one) => {
        const page = Source.safeParse(one).data
        if (!page || known.has(page.url) || known.size >= mostSources) return []
        known.add(page.url)
        return [{ url: page.url, title: page.title ?? '' }]
      }),
    )
}
