import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { localEmbedder, stemOf } from '#server/ports/model/local-embedder'

const embedder = localEmbedder()
const { signal } = new AbortController()
const near = async (a: string, b: string) => {
  const [one = [], other = []] = await embedder.embed([a, b], signal)
  return Array.from(one).reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
}

test('vectors have 512 places and length 1, also those of nothing, of signs and of a very long text', async () => {
  const texts = ['', '   ', '🦊!?', 'the of and', 'a fox', 'word '.repeat(500_000), '\ud83e', '今日は良い天気です']
  const started = performance.now()
  const vectors = await embedder.embed(texts, signal)
  expect(performance.now() - started).toBeLessThan(5_000)
  for (const vector of vectors) {
    expect(vector).toHaveLength(512)
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
  }
})

test('the vector of a text is the same on every machine and in every version', async () => {
  const [vector] = await embedder.embed(['Plaza keeps one order: nothing is lost. Überall, 広場.'], signal)
  const rounded = Array.from(vector ?? [], (value) => Math.round(value * 1e6))
  expect(createHash('sha256').update(JSON.stringify(rounded)).digest('hex')).toMatchInlineSnapshot(
    `"15d462bf5a7932d30dd7d5cecda08f46961abe787b86eaa1ec9572d3e9c0ebcb"`,
  )
  expect(embedder.name).toBe('local-512-1')
})

test('other forms of the same words are near, other words are not', async () => {
  const told = 'Backups are encrypted before they are stored. A restored backup replaces the whole directory.'
  expect(await near(told, 'How do I restore an encrypted backup?')).toBeGreaterThan(0.4)
  expect(await near(told, 'Which foxes live in the forest?')).toBeLessThan(0.25)
  expect(await near(told, '')).toBeLessThan(0.25)
  expect(await near('Straße und Plätze', 'strasse? platze')).toBeGreaterThan(await near('Straße und Plätze', 'river'))
})

test.each([
  ['encrypts', 'encrypting', 'encrypted', 'encrypt'],
  ['restore', 'restores', 'restoring', 'restored'],
  ['copy', 'copies', 'copied'],
  ['plan', 'planned', 'planning', 'planner'],
  ['payment', 'payments', 'pay'],
])('%s shares its stem with its other forms', (...forms) => {
  expect(new Set(forms.map(stemOf)).size).toBe(1)
})

test('an aborted signal ends it', async () => {
  await expect(embedder.embed(['a'], AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
})
