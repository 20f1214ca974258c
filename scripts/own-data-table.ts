import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { declaredModels } from '#server/kernel/store/model'
import type { OwnData, Share } from '#server/kernel/store/own-data'
// Brings in every model.
import '#server/domains/index'
import '#server/log/model'

export const privacyFile = join(fileURLToPath(new URL('..', import.meta.url)), 'docs/privacy.md')

const begins = '<!-- Written by `npm run docs` from the declarations of the models. -->\n'
const ends = '\n<!-- Until here. -->'

function fateOf(share: Share): string {
  if (share.becomes === 'erase') return 'erased'
  if (share.becomes === 'hand over') return `handed over: ${share.rule}`
  const cleared = share.clears ? `, without ${share.clears.map((field) => `\`${field}\``).join(', ')}` : ''
  if (share.becomes === 'unlink') return `without the person${cleared}`
  const time = typeof share.days === 'number' ? `${share.days} days` : share.days
  return `kept ${time}${cleared}: ${share.reason}`
}

function ownerOf({ owner, at, through }: Share): string {
  if (owner === null) return 'nobody by name'
  return `\`${owner}\`${at ? ` (${at})` : ''}${through ? ` (owner of ${through})` : ''}`
}

function rowsOf(collection: string, own: OwnData | null): string[] {
  if (own === null || own === "nobody's") return []
  const archive = typeof own.archive === 'string' ? `\`${own.archive}\`` : own.archive.never
  const shares = own.shares.length > 0 ? own.shares : [null]
  return shares.map((share) => {
    const cells = share ? [ownerOf(share), fateOf(share)] : ['nobody by name', 'goes with what it is about']
    return `| \`${collection}\` | ${cells.join(' | ')} | ${share?.archive === false ? 'not shown to them' : archive} |`
  })
}

/** `docs/privacy.md` with the table of what is stored of people. */
export function privacyText(): string {
  const text = readFileSync(privacyFile, 'utf8')
  const models = declaredModels()
    .map(({ model, own }) => ({ collection: model.collection.collectionName, own }))
    .sort((one, other) => (one.collection < other.collection ? -1 : 1))
  const table = [
    '| Stored as | Of whom | When the account goes | In the archive |',
    '| --- | --- | --- | --- |',
    ...models.flatMap(({ collection, own }) => rowsOf(collection, own)),
  ].join('\n')
  const start = text.indexOf(begins) + begins.length
  return `${text.slice(0, start)}${table}${text.slice(text.indexOf(ends))}`
}
