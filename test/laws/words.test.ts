import { parseSync } from 'vite'
import { describe, expect, it, test } from 'vitest'
import { api, events } from '#shared/api/index'
import { operationsOf } from '#shared/kit/contract'
import { commentsOf, dialectOf, longSentencesOf } from './prose.ts'
import { filesUnder, textOf } from './sources.ts'

const ROOTS = ['work', 'root', 'home', 'Users', 'opt'].join('|')
const MACHINE_PATH = new RegExp(String.raw`(?<![\w.#:*-])/(${ROOTS})/[\w.]|[.]library\b|\b[A-Z]:\\(${ROOTS})\b`, 'g')

test('the repository speaks of Plaza alone and of no machine', () => {
  const texts = filesUnder('.').map((path) => ({ path, text: textOf(path) }))
  const written = texts.filter(({ text }) => !text.includes('\0'))
  const found = written.flatMap(({ path, text }) =>
    [...text.matchAll(MACHINE_PATH)].map(([words]) => `${path}: ${words}`),
  )
  expect(found).toEqual([])
})

describe('M07: what the operator can read is called encrypted nowhere', () => {
  const claim = /(?:en|de)crypt|end-to-end|\u{1f512}/iu
  /** What holds of direct messages, whose keys the operator does not have. */
  const held = new Set([
    'End-to-end encrypted',
    'End-to-end encrypted, not verified',
    'Not secret: sent before direct messages were end-to-end encrypted.',
    // Of rooms with a shared key, with what it does not protect from.
    'Encrypted at rest; the operator holds the key',
  ])
  /** What the browser's own functions and the documented types of messages are called. */
  const names = new Set(['encrypt', 'decrypt', 'encrypted_image'])
  const claims = (text: string) => !names.has(text) && !held.has(text) && claim.test(text)

  it('in the page', () => {
    const pages = filesUnder('client').filter((path) => /\.(tsx?|html)$/.test(path))
    const found = pages.flatMap((path) =>
      (path.endsWith('.html') ? [textOf(path)] : textsIn(path, textOf(path)))
        .filter(claims)
        .map((text) => `${path}: ${text}`),
    )
    expect(found).toEqual([])
  })

  it('in what the interface says of itself', () => {
    const summaries = [...operationsOf(api).map(({ operation }) => operation), ...Object.values(events)].map(
      ({ summary }) => summary,
    )
    expect(summaries.filter(claims)).toEqual([])
  })

  it('catches what is planted', () => {
    const planted = textsIn(
      'a.tsx',
      "// encrypted\nexport const A = () => <p title='Encrypted'>End-to-end {`decrypted`}</p>",
    )
    expect(planted.filter(claims)).toEqual(['Encrypted', 'End-to-end ', 'decrypted'])
    expect([claims('End-to-end encrypted'), claims('Rooms are end-to-end encrypted')]).toEqual([false, true])
    expect(claims('Encrypted at rest')).toBe(true)
  })
})

describe('documents and comments are in plain English: a count of words.json may only shrink', () => {
  const stored = JSON.parse(textOf('test/laws/words.json')) as Record<'long sentences' | 'dialect', object>
  const documents = ['CONTRIBUTING.md', 'README.md', 'SECURITY.md', ...filesUnder('docs')].filter((path) =>
    path.endsWith('.md'),
  )
  const sources = ['server', 'shared', 'scripts'].flatMap(filesUnder).filter((path) => /\.(ts|mjs)$/.test(path))
  const written = [
    ...documents.map((path) => ({ path, text: textOf(path) })),
    ...sources.map((path) => ({ path, text: commentsOf(path, textOf(path)) })),
  ]
  const counted = (faultsOf: (text: string) => string[]) => {
    const faults = written.map(({ path, text }) => [path, faultsOf(text)] as const).filter(([, all]) => all.length > 0)
    return {
      counts: Object.fromEntries(faults.map(([path, all]) => [path, all.length])),
      text: faults.flatMap(([path, all]) => all.map((fault) => `${path}: ${fault}`)).join('\n'),
    }
  }

  it('sentences of more than 20 words', () => {
    const { counts, text } = counted(longSentencesOf)
    expect(counts, text).toEqual(stored['long sentences'])
  })

  it('words of the old dialect', () => {
    const { counts, text } = counted(dialectOf)
    expect(counts, text).toEqual(stored.dialect)
  })

  it('reads the comments of a source', () => {
    const twenty = `Word ${'word '.repeat(18)}end.`
    const code = [
      ...[`/** One ${twenty} */`, "const a = 'told' // Who asks", '', `// One ${twenty.slice(0, 50)}`],
      ...[`// ${twenty.slice(50)}`, '', '/**', ' * Told.', ` * @param a ${twenty}`, ' */'],
    ]
    const comments = commentsOf('a.ts', code.join('\n'))
    expect(longSentencesOf(comments)).toEqual([`One ${twenty}`, `One ${twenty}`, `@param a ${twenty}`])
    expect(dialectOf(comments).map((found) => found.split(' ->')[0])).toEqual(['Who ', 'Told'])
  })

  it('finds what is planted, outside code and tables', () => {
    const twenty = `Word ${'word '.repeat(18)}end.`
    const text = `# Who asks\n\n- ${twenty} One ${twenty}\n\n| ${twenty} more |\n\n\`\`\`sh\n${twenty} ${twenty}\n\`\`\`\n`
    expect(longSentencesOf(text)).toEqual([`One ${twenty}`])
    expect(longSentencesOf(`${twenty}\n${twenty} See [one two](a.md).`)).toEqual([])
    const spoken = 'Who asks is told. Who may ask? `told` The row stands, for good, and whoever | Who knows lets go |'
    expect(dialectOf(spoken).map((found) => found.split(' ->')[0])).toEqual([
      ...['whoever', 'Who ', 'Who ', 'told', 'stands', 'lets go', 'for good'],
    ])
  })
})

/** The texts of a source: its strings, and what stands between its tags. */
function textsIn(path: string, code: string): string[] {
  const found: string[] = []
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, value } = node as { type?: unknown; value?: unknown }
    if ((type === 'Literal' || type === 'JSXText') && typeof value === 'string') found.push(value)
    if (type === 'TemplateElement') found.push((value as { raw: string }).raw)
    for (const inner of Object.values(node)) walk(inner)
  }
  walk(parseSync(path, code).program)
  return found
}
