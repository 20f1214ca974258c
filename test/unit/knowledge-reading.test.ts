import { afterAll, describe, expect, test, vi } from 'vitest'
import { isExcludedUrl, readSource, type Source } from '#server/domains/agents/library/indexing'
import { textChunks } from '#server/domains/agents/library/reading/chunks'
import { contentTypeOf, rawUrlOf, titleOf } from '#server/domains/agents/library/reading/page'
import { processReader } from '#server/ports/reader/local'
import { fakeWeb, type Page } from '#server/ports/web/fake'
import { pdfOf } from '#test/support/documents'

describe('chunks', () => {
  const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join(' ')

  test.each([
    [50, 0],
    [51, 1],
    [1_000, 1],
    [1_001, 2],
    [1_900, 2],
    [1_901, 3],
    [10_000, 11],
  ])('%i characters without a space are %i', (length, count) =>
    expect(textChunks('x'.repeat(length))).toHaveLength(count),
  )

  test('hold each word whole, overlap, and are 1,000 characters at the most', () => {
    const text = words(2_000)
    const chunks = textChunks(text)
    expect(chunks).toHaveLength(Math.ceil((text.length - 100) / 900))
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(1_000)
    const known = new Set(text.split(' '))
    expect(chunks.flatMap((chunk) => chunk.split(' ')).filter((word) => !known.has(word))).toEqual([])
    expect(new Set(chunks.flatMap((chunk) => chunk.split(' '))).size).toBe(known.size)
    for (const [at, chunk] of chunks.slice(1).entries()) expect(chunks[at]?.split(' ')).toContain(chunk.split(' ')[0])
  })

  test('split no character', () =>
    expect(textChunks('😀'.repeat(3_000)).join('')).not.toMatch(/(?<![\ud800-\udbff])[\udc00-\udfff]/))
})

test.each([
  ['https://example.com/how-tides_work', 'how tides work', 'webpage', null],
  ['https://example.com/', 'example.com', 'webpage', null],
  ['https://example.com/%zz', '%zz', 'webpage', null],
  ['https://docs.example.com/start', 'start', 'docs', null],
  ['https://example.com/docs/api', 'api', 'docs', null],
  ['https://example.com/documentation', 'documentation', 'docs', null],
  ['https://github.com/o/r', 'o/r', 'github', 'https://raw.githubusercontent.com/o/r/HEAD/README.md'],
  ['https://github.com/o/r.git', 'o/r', 'github', 'https://raw.githubusercontent.com/o/r/HEAD/README.md'],
  [
    'https://github.com/o/r/blob/main/docs/a.md',
    'o/r',
    'github',
    'https://raw.githubusercontent.com/o/r/main/docs/a.md',
  ],
  ['https://github.com/o', 'o', 'github', null],
  ['https://gitlab.com/o/r', 'o/r', 'github', 'https://gitlab.com/o/r/-/raw/HEAD/README.md'],
  ['https://gitlab.com/o/r/-/blob/main/a.md', 'o/r', 'github', 'https://gitlab.com/o/r/-/raw/main/a.md'],
  ['https://bitbucket.org/o/r', 'o/r', 'github', 'https://bitbucket.org/o/r/raw/HEAD/README.md'],
  ['https://github.com.evil.test/o/r', 'r', 'webpage', null],
])('%s is called %s, a %s', (given, title, type, raw) => {
  const url = new URL(given)
  expect([titleOf(url), contentTypeOf(url), rawUrlOf(url)]).toEqual([title, type, raw])
})

test('patterns leave out what they are found in', () => {
  const url = 'https://example.com/blog/2024/tides?print=1'
  for (const pattern of ['/blog', '/blog/*/tides', 'PRINT=1', '*'])
    expect(isExcludedUrl(url, [pattern]), pattern).toBe(true)
  for (const pattern of ['/blogs', 'tides*blog', 'example.com', '.*x'])
    expect(isExcludedUrl(url, [pattern]), pattern).toBe(false)
})

describe('reading a source', () => {
  const reader = processReader()
  const turn = { of: 'agent', signal: new AbortController().signal }
  afterAll(() => reader.close())
  const long = 'The moon pulls the sea and the sea follows it, twice a day, all around the world. '.repeat(3)
  const read = async (
    pages: Record<string, Page>,
    source: Partial<Source> = {},
    known = null as Parameters<typeof readSource>[2],
  ) => {
    const web = fakeWeb(pages)
    const whole = {
      url: 'https://example.test/a',
      scrape_method: 'basic',
      crawl_depth: 1,
      exclude_patterns: [],
      ...source,
    } as const
    const found = await readSource({ web, reader }, whole, known, turn)
    return { ...found, asked: web.asked.map(({ url }) => url), web }
  }

  test.each<[string, Page]>([
    ['HTML', `<title>Tides</title><script>no()</script><p>${long}`],
    ['plain text', { headers: { 'content-type': 'text/plain' }, body: long }],
    [
      'markdown',
      {
        headers: { 'content-type': 'text/markdown' },
        body: `# Tides\n\n${long} [more](https://x.test) ![i](data:image/png;base64,AAAA)`,
      },
    ],
    ['a PDF', { headers: { 'content-type': 'application/pdf' }, body: pdfOf('Tides', [long]) }],
    ['HTML that says no type', { headers: {}, body: `<!doctype html><title>Tides</title><p>${long}` }],
    [
      'latin-1',
      {
        headers: { 'content-type': 'text/html; charset=iso-8859-1' },
        body: Buffer.from(`<p>${long} Stra\u00dfe`, 'latin1'),
      },
    ],
  ])('takes the text of %s', async (what, page) => {
    const { pages } = await read({ 'https://example.test/a': page })
    expect(pages?.[0]?.text.replace(/\s+/g, ' ')).toContain(long.trim())
    expect(pages?.[0]?.text).not.toMatch(/no\(\)|base64|x\.test/)
    if (what === 'latin-1') expect(pages?.[0]?.text).toContain('Straße')
  })

  test.each<[string, Page, RegExp]>([
    ['an image', { headers: { 'content-type': 'image/png' }, body: 'x' }, /no text, but image\/png/],
    ['bytes', { headers: { 'content-type': 'text/plain' }, body: Buffer.alloc(500) }, /no text/],
    ['a short page', '<p>too short', /less than 100/],
    ['a missing page', { status: 404, body: long }, /status 404/],
    ['a page that never comes', 'silent', /too long/],
  ])('says why of %s', async (_what, page, why) => {
    await expect(read({ 'https://example.test/a': page })).rejects.toThrow(why)
  })

  test('O70: a list goes on over as many pages as are asked for, where it is read in the advanced way', async () => {
    const listed = Object.fromEntries(
      [...'abcd'].map((name, at) => [
        `https://example.test/${name}`,
        `<article><p>${long} Part ${name}.</p></article><a rel="nofollow next" href="/${'bcde'[at]}">More</a>`,
      ]),
    )
    const urls = async (source: Partial<Source>) => (await read(listed, source)).pages?.map(({ url }) => url.slice(-1))
    const scrolled = { infinite_scroll: true, scroll_count: 2 }
    expect(await urls({ scrape_method: 'advanced', ...scrolled })).toEqual(['a', 'b', 'c'])
    expect(await urls({ scrape_method: 'advanced', ...scrolled, scroll_count: 9 })).toEqual(['a', 'b', 'c', 'd'])
    expect(await urls({ scrape_method: 'advanced', ...scrolled, exclude_patterns: ['/b'] })).toEqual(['a'])
    for (const source of [scrolled, { ...scrolled, scrape_method: 'advanced' as const, infinite_scroll: false }])
      expect(await urls(source)).toEqual(['a'])
  })

  test('asks by condition, and knows the text by its hash', async () => {
    const headers = { 'content-type': 'text/plain', etag: '"1"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' }
    const first = await read({ 'https://example.test/a': { headers, body: long } })
    expect(first).toMatchObject({
      etag: '"1"',
      modified: headers['last-modified'],
      pages: [{ text: expect.any(String) }],
    })
    const again = await read({ 'https://example.test/a': { headers, body: long } }, {}, first)
    expect(again.pages).toBeNull()
    expect(again.web.asked[0]?.request.headers).toMatchObject({
      'if-none-match': '"1"',
      'if-modified-since': headers['last-modified'],
    })
    expect((await read({ 'https://example.test/a': { status: 304, body: '' } }, {}, first)).pages).toBeNull()
    expect((await read({ 'https://example.test/a': { headers, body: `${long} new` } }, {}, first)).pages).toHaveLength(
      1,
    )
  })

  const site = (links: string, at: string) => `<title>${at}</title>${links}<article><p>${at} ${long}</p></article>`
  const pages = {
    'https://example.test/a': site(
      '<a href="/b">b</a><a href="/private/c">c</a><a href="https://other.test/">o</a><a href="/a#x">a</a>',
      'a',
    ),
    'https://example.test/b': site('<a href="/d">d</a><a href="/missing">m</a>', 'b'),
    'https://example.test/private/c': site('', 'c'),
    'https://example.test/d': site('<a href="/b">b</a><a href="/e">b</a>', 'd'),
    'https://example.test/e': site('', 'e'),
    'https://other.test/': site('', 'other'),
  }

  test.each([
    ['basic', 3, ['a']],
    ['advanced', 1, ['a']],
    ['advanced', 2, ['a', 'b', 'c']],
    ['advanced', 3, ['a', 'b', 'c', 'd']],
    ['advanced', 5, ['a', 'b', 'c', 'd', 'e']],
  ] as const)('%s to depth %i reads within the origin', async (scrape_method, crawl_depth, titles) => {
    const found = await read(pages, { scrape_method, crawl_depth })
    expect(found.pages?.map(({ title }) => title)).toEqual(titles)
    expect(found.asked.filter((url) => url.startsWith('https://other.test'))).toEqual([])
    const left = await read(pages, { scrape_method, crawl_depth, exclude_patterns: ['/private'] })
    expect(left.asked).not.toContain('https://example.test/private/c')
  })

  test('T65: links without end are followed to 50 pages, and twins are taken once', async () => {
    const web = fakeWeb()
    const trap = {
      get: (url: string) => site(`<a href="${url}x">more</a><a href="${url}?twin">t</a>`, url.replace('?twin', '')),
    }
    Object.assign(web, { pages: new Map([['https://example.test/a', '']]) })
    const asked: string[] = []
    const endless = {
      ...web,
      ask: async (url: string) => {
        asked.push(url)
        return { status: 200, url, headers: { 'content-type': 'text/html' }, body: Buffer.from(trap.get(url)) }
      },
    }
    const wide = `<title>w</title>${Array.from({ length: 300 }, (_, at) => `<a href="/w${at}">w</a>`).join('')}<p>${long}`
    const source = {
      url: 'https://example.test/a',
      scrape_method: 'advanced',
      crawl_depth: 5,
      exclude_patterns: [],
    } as const
    const deep = await readSource({ web: endless, reader }, source, null, turn)
    expect(deep.pages?.length).toBeLessThanOrEqual(6)
    trap.get = (url) => wide.replace('<p>', `<p>${url} `)
    const progress: number[] = []
    const flat = await readSource({ web: endless, reader }, source, null, turn, (count) => progress.push(count))
    expect(flat.pages).toHaveLength(50)
    expect(progress.at(-1)).toBe(50)
    expect(asked.length).toBeLessThan(70)
  })

  test('a repository is its README and the documents that it links to', async () => {
    const raw = 'https://raw.githubusercontent.com/o/r/HEAD/'
    const md = (body: string) => ({ headers: { 'content-type': 'text/plain' }, body })
    const found = await read(
      {
        [`${raw}README.md`]: md(
          `# The thing\n${long}[guide](docs/guide.md) [code](src/a.ts) [out](https://raw.githubusercontent.com/x/y/HEAD/a.md)`,
        ),
        [`${raw}docs/guide.md`]: md(`# Guide\nGuide: ${long}`),
        'https://raw.githubusercontent.com/x/y/HEAD/a.md': md(long),
      },
      { url: 'https://github.com/o/r' },
    )
    expect(found.pages?.map(({ title }) => title)).toEqual(['The thing', 'Guide'])
    expect(found.asked).toHaveLength(2)
  })

  test('T65: a crawl ends with the text it may take, and with its time', async () => {
    const names = ['b', 'c', 'd', 'e', 'f']
    const links = names.map((name) => `<a href="/${name}">${name}</a>`).join('')
    const much = (at: string) => `<title>${at}</title><p>${`${at} ${long}`.repeat(3_700)}`
    const large = Object.fromEntries(names.map((at) => [`https://example.test/${at}`, much(at)]))
    const source = { scrape_method: 'advanced', crawl_depth: 2 } as const
    const first = { 'https://example.test/a': site(links, 'a') }
    const found = await read({ ...first, ...large }, source)
    expect(found.pages?.map(({ title }) => title)).toEqual(['a', 'b', 'c', 'd'])
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now')
    clock.mockImplementationOnce(now).mockImplementation(() => now() + 121_000)
    const late = await read(pages, source).finally(() => clock.mockRestore())
    expect(late.pages?.map(({ title }) => title)).toEqual(['a'])
  })

  test('a page that redirects out of the origin is no page of it, also within a repository', async () => {
    const web = fakeWeb(pages)
    const elsewhere = {
      ...web,
      ask: async (url: string) => ({
        ...(await web.ask(url)),
        ...(url.endsWith('/b') && { url: 'https://other.test/' }),
      }),
    }
    const source = {
      url: 'https://example.test/a',
      scrape_method: 'advanced',
      crawl_depth: 2,
      exclude_patterns: [],
    } as const
    const found = await readSource({ web: elsewhere, reader }, source, null, turn)
    expect(found.pages?.map(({ title }) => title)).toEqual(['a', 'c'])
  })

  test('a crawl asks for its first page without a condition, as another may have changed', async () => {
    const source = { scrape_method: 'advanced', crawl_depth: 2 } as const
    const known = { etag: '"1"', modified: null, hash: null }
    const { pages: found, web } = await read(pages, source, known)
    expect(found).toHaveLength(3)
    expect(web.asked.every(({ request }) => request.headers?.['if-none-match'] === undefined)).toBe(true)
  })

  test('a server that says of what was never read that it has not changed has no text', async () => {
    await expect(read({ 'https://example.test/a': { status: 304, body: '' } })).rejects.toThrow('status 304')
  })

  test('a fault of ours on the way is none of the page', async () => {
    const web = fakeWeb(pages)
    const broken = {
      ...web,
      ask: async (url: string) => {
        if (url.endsWith('/b')) throw new TypeError('A fault of ours')
        return web.ask(url)
      },
    }
    const source = {
      url: 'https://example.test/a',
      scrape_method: 'advanced',
      crawl_depth: 2,
      exclude_patterns: [],
    } as const
    const reading = readSource({ web: broken, reader }, source, null, turn)
    await expect(reading).rejects.toThrow('A fault of ours')
  })

  test('links lead from where the page says that it is', async () => {
    const { asked } = await read(
      { 'https://example.test/a': site('<base href="/below/"><a href="b">b</a>', 'a') },
      { scrape_method: 'advanced', crawl_depth: 2 },
    )
    expect(asked).toEqual(['https://example.test/a', 'https://example.test/below/b'])
  })

  test('a PDF is known by its first bytes, whatever its server calls it', async () => {
    const page = { headers: { 'content-type': 'text/plain' }, body: pdfOf('Tides', [long]) }
    const { pages: found } = await read({ 'https://example.test/a': page })
    expect(found?.[0]?.text.replace(/\s+/g, ' ')).toContain(long.trim())
  })
})
