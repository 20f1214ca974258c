import { afterAll, describe, expect, test } from 'vitest'
import { processReader } from '#server/ports/reader/local'
import { pdfOf } from '#test/support/documents'

const reader = processReader()
afterAll(() => reader.close())

const article = `<html><head><title>How  tides
  work</title><base href="https://site.test/base/"><style>p { color: red }</style></head><body>
  <nav><a href="/nav">Elsewhere</a></nav><article><h1>How tides work</h1>${'<p>The <b>moon</b> pulls the sea &amp; the sea follows it, twice a day, all around the world.</p>'.repeat(8)}
  <script>alert('no')</script><p>One<br>two</p></article><footer><a href="imprint.html">Imprint</a></footer></body></html>`

describe('the reader of documents', () => {
  test('reads the text of a page, its title and its links', async () => {
    const { title, text, links, base } = await reader.read('page', article)
    expect(title).toBe('How tides work')
    expect(text.split('\n').slice(0, 2)).toEqual([
      'How tides work',
      expect.stringMatching(/^The moon pulls the sea & the sea/),
    ])
    expect(text).toContain('One\ntwo')
    expect(text).not.toMatch(/alert|color|Elsewhere/)
    expect(links).toEqual(['/nav', 'imprint.html'])
    expect(base).toBe('https://site.test/base/')
  })

  test('reads the article of a page alone where it is asked to', async () => {
    const { title, text } = await reader.read('article', article)
    expect(title).toBe('How tides work')
    expect(text).toMatch(/The moon pulls the sea & the sea/)
    expect(text).not.toContain('Imprint')
  })

  test('reads a PDF', async () => {
    const { title, text } = await reader.read('pdf', pdfOf('Tides', ['The moon pulls the sea.', 'The sea follows it.']))
    expect(title).toBe('Tides')
    expect(text).toMatch(/The moon pulls the sea\.\s+The sea follows it\./)
  })

  test.each([
    ['no PDF', 'pdf', 'not a PDF'],
    ['half a PDF', 'pdf', pdfOf('Half', ['text']).subarray(0, 300)],
    ['no HTML', 'page', '\u0000\ufffd<<<>>&&&#x;<!--'],
    ['nothing', 'article', ''],
  ] as const)('answers or refuses %s, and reads on', async (_what, as, document) => {
    const read = await reader.read(as, document).catch(({ code }: { code: string }) => code)
    expect(typeof read === 'string' ? read : read.links).toEqual(typeof read === 'string' ? 'UPSTREAM_ERROR' : [])
    expect((await reader.read('page', '<p>still here')).text).toBe('still here')
  })
})
