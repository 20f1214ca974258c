import { readFile } from 'node:fs/promises'
import type { Node } from '#server/kernel/context'
import { documents } from '#server/kernel/docs'

/** A table of requirements, which has some word of every question. */
const passedOver = '/docs/asvs.md'

/** Plaza's own documentation as it ships with the server: read from the disk, without a network. */
export async function ownDocuments({ services: { reader }, settings: { publicUrl } }: Node) {
  const read = documents.filter(([path]) => path !== passedOver)
  return Promise.all(
    read.map(async ([path, file]) => {
      const { title, text } = await reader.read('markdown', asProse(await readFile(file, 'utf8')))
      return { url: new URL(path, publicUrl).href, title, text }
    }),
  )
}

/** Lines that were broken for an editor are joined, and rows of tables become lines. */
const asProse = (markdown: string): string =>
  markdown
    .replace(/^\|[\s:|-]+\|$\n?/gm, '')
    .replace(
      /^\|(.*)\|$/gm,
      (_row, cells: string) =>
        `\n${cells
          .split('|')
          .map((cell) => cell.trim())
          .join(': ')}\n`,
    )
    .replace(/([^\n])\n(?=[A-Za-z(`[*"“])/g, '$1 ')
