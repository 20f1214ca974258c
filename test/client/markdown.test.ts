import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { AnswerText, blocksOf } from '../../client/web/agents/answer-text.tsx'
import { lineOf } from '../../client/web/media/words.ts'
import { AttachmentChip } from '../../client/web/messages/attachment-chip.tsx'
import { Markdown } from '../../client/web/messages/markdown.tsx'
import { OuterLink } from '../../client/web/messages/outer-link.tsx'

const shown = (text: string) => renderToStaticMarkup(createElement(Markdown, { text, named: [] }))
const inside = (text: string) => shown(text).replace(/^<div class="text markedDown" dir="auto">|<\/div>$/g, '')

const rendered: [string, string][] = [
  [
    '**bold** _thin_ ~~gone~~ `x < y`',
    '<strong>bold</strong> <em>thin</em> <del>gone</del> <code dir="ltr">x &lt; y</code>',
  ],
  ['one\ntwo', 'one\ntwo'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['# no heading', '# no heading'],
  ['\\*plain\\*', '*plain*'],
  ['~one tilde~', '~one tilde~'],
  ['&lt;b&gt; &amp;', '&amp;lt;b&amp;gt; &amp;amp;'],
]

describe('M69: Markdown', () => {
  test.each(rendered)('%j', (text, html) => expect(inside(text)).toBe(`<p dir="auto">${html}</p>`))

  test('quotes, lists and code are blocks', () => {
    const html = inside('> said\n\n- one\n- two\n\n3. three\n\n```ts\nlet a = "<b>"\n```')
    expect(html).toContain('aria-label="Copy the code"')
    expect(html.replace(/<button.*?<\/button>/, '')).toBe(
      '<blockquote dir="auto"><p dir="auto">said</p></blockquote>' +
        '<ul dir="ltr"><li><p dir="auto">one</p></li><li><p dir="auto">two</p></li></ul>' +
        '<ol start="3" dir="ltr"><li><p dir="auto">three</p></li></ol>' +
        '<div class="codeHolder" dir="ltr"><pre class="codeBlock" dir="ltr" tabindex="0"><code>let a = &quot;&lt;b&gt;&quot;</code></pre></div>',
    )
  })

  test('links have web addresses only, and send no referrer', () => {
    const link = (href: string, words: string) =>
      `<a href="${href}" title="${href}" target="_blank" rel="noopener noreferrer nofollow">${words}</a>`
    expect(inside('[here](https://example.org/a "t")')).toBe(
      `<p dir="auto">${link('https://example.org/a', 'here <bdi class="leads-to">(example.org)</bdi>')}</p>`,
    )
    expect(inside('**https://example.org/b**')).toBe(
      `<p dir="auto"><strong>${link('https://example.org/b', 'https://example.org/b')}</strong></p>`,
    )
  })

  test('mentions are marked within any element', () => {
    const named = [{ words: '@Ada', isMe: true, mark: null }]
    const html = renderToStaticMarkup(createElement(Markdown, { text: '> a\n> **@Ada** b', named }))
    expect(html).toContain('<strong><span class="mention mine">@Ada</span></strong>')
  })
})

const schemes = ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,<script>alert(1)</script>', 'vbscript:x']
const others = ['file:///etc/passwd', 'blob:https://x/y', '//example.org', '/api/x', 'java\tscript:alert(1)', '#x', '']
const hostile = [
  ...[...schemes, ...others].flatMap((url) => [`[x](${url})`, `[x](<${url}>)`, `<${url}>`, `![x](${url})`]),
  '[x]: javascript:alert(1)\n\n[x]',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<!-- --><script>alert(1)</script>',
  '**<b onmouseover=alert(1)>x</b>**',
  '`<img src=x onerror=alert(1)>`',
  '```html" onload="alert(1)\n<script>alert(1)</script>\n```',
  '[<img src=x onerror=alert(1)>](https://example.org)',
  '[x](https://example.org/"onmouseover="alert(1))',
  '[x](https://example.org "\\" onmouseover=\\"alert(1)")',
  '![x](https://example.org/canary.png)',
  '[![x](https://example.org/canary.png)](https://example.org)',
  '&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e;',
  '\u202e[x](https://example.org)',
  `${'>'.repeat(2_000)} deep`,
  `${'- '.repeat(1_000)}deep`,
  `${'**a '.repeat(1_500)}`,
  `${'['.repeat(3_000)}`,
  `${'`'.repeat(3_000)} ${'*_'.repeat(1_500)}`,
]

const heavy = [
  '**a ',
  '[',
  '`',
  '*_',
  '> ',
  '- ',
  '-\t',
  '- \n',
  '- a\n',
  '>\n',
  '1. ',
  '[a](',
  '~~a',
  '*a_ ',
  '![',
  '`a``',
  'a\n\n',
]
test.each(heavy)('M69: a message full of %j does not block the page', (part) => {
  const text = part.repeat(10_000 / part.length)
  const start = performance.now()
  shown(text)
  expect(performance.now() - start).toBeLessThan(2_000)
})

const tags = /^<(\/?(p|strong|em|del|code|pre|blockquote|ul|ol|li|br|a|bdi|span|div))((?: [a-z]+="[^"<>]*")*) ?\/?>$/
const attributes = /^(dir|class|start|href|title|target|rel|tabindex)$/

test.each(hostile.map((text) => [text.slice(0, 60), text] as const))(
  'M69: only allowed elements are rendered from %j',
  (_name, text) => {
    // The button that copies code is no part of the text.
    const html = shown(text).replace(
      /<button type="button" class="icon-button small" aria-label="Copy the code".*?<\/button>/g,
      '',
    )
    for (const [tag] of html.matchAll(/<[^>]*>/g)) {
      const [, , , given = ''] = tags.exec(tag) ?? expect.fail(tag)
      for (const [, name = ''] of given.matchAll(/ ([a-z]+)=/g)) expect(name).toMatch(attributes)
      const href = / href="([^"]*)"/.exec(tag)?.[1]
      if (href !== undefined) expect(href).toMatch(/^https?:\/\//)
    }
    expect(html).not.toContain('<img')
  },
)

describe('answers of agents', () => {
  const answer = (text: string) =>
    renderToStaticMarkup(createElement(AnswerText, { text, citations: [cited('https://example.org/a'), note] }))
  const cited = (url: string) => ({ n: 1, knowledge_id: 'k', title: 'A page', url, chunk: 0 })
  const note = { n: 2, knowledge_id: 'k', title: 'A note', url: '', chunk: 0 }

  test('have headings, and numbers that lead to their sources, but not within links', () => {
    expect(answer('## Why\n\nAs told [1], and [2], not [3].')).toBe(
      '<div class="answerText"><div class="text markedDown" dir="auto"><p class="heading" dir="auto">Why</p></div>' +
        '<div class="text markedDown" dir="auto"><p dir="auto">As told ' +
        '<a class="cite" href="https://example.org/a" title="Source 1: A page (example.org)" aria-label="Source 1: A page (example.org)" target="_blank" rel="noopener noreferrer nofollow">1</a>' +
        ', and <span class="cite" title="A note"><span class="unseen">Source </span>2</span>, not [3].</p></div></div>',
    )
    expect(answer('[see \\[1\\] at https://a.example](https://b.example)').match(/<a /g)).toHaveLength(1)
  })

  test('are read block by block, so that a fenced block and a list stay whole', () => {
    const blocks = ['one\ntwo', '```\na\n\nb\n```', '- one\n\n  more', '- two']
    expect(blocksOf(blocks.join('\n\n'))).toEqual(blocks)
    expect(blocksOf('```\nopen\n\nstill')).toEqual(['```\nopen\n\nstill'])
    expect(blocksOf('\n\none\n')).toEqual(['one'])
  })

  test('have tables, whose cells are read as Markdown', () => {
    const html = answer('Boats:\n| Name | Length |\n|:--|--:|\n| **Ida** \\| old | 6 m |\n| Aurora |\nThat is all.')
    expect(html).toContain('<p dir="auto">Boats:</p>')
    expect(html).toContain(
      '<th scope="col" class="end"><div class="text markedDown" dir="auto"><p dir="auto">Length</p>',
    )
    expect(html).toContain('<p dir="auto"><strong>Ida</strong> | old</p></div></td>')
    expect(html).toContain('Aurora</p></div></td><td class="end"></td></tr></tbody></table>')
    expect(html).toContain('<p dir="auto">That is all.</p>')
  })

  test.each([
    ['a fenced block', '```\n| a | b |\n|---|---|\n```'],
    ['a rule with other columns', '| a | b |\n|---|'],
    ['a line with a bar', 'a | b\nc | d'],
    ['more columns than anybody reads', `${'|a'.repeat(30)}|\n${'|-'.repeat(30)}|`],
  ])('%s is no table', (_name, text) => {
    expect(answer(text)).not.toContain('<table')
  })

  test('number their lists on the side on which the text begins', () => {
    expect(answer('- أولا\n- hello')).toContain('<ul dir="rtl">')
    expect(answer('1. one\n2. أولا')).toContain('<ol start="1" dir="ltr">')
  })
})

describe('N20: the page links what writes http:// or https://', () => {
  test.each([
    '[x](https\\://evil.zip)',
    '[x](https&colon;//evil.zip)',
    '[x](http:evil.zip)',
    '[x](https:/evil.zip)',
    '[x](http:\\\\evil.zip)',
    '[x](//evil.zip)',
    '<http:evil.zip>',
    'www.evil.zip, me@evil.zip',
  ])('not %j', (text) => expect(inside(text)).not.toContain('<a'))

  test.each([
    ['> # [x](<https://a.example/b>)', 'https://a.example/b'],
    ['<https://a.example/b>', 'https://a.example/b'],
    ['![x](https://a.example/b)', 'https://a.example/b'],
    ['[x](https://a.example/b\\_c)', 'https://a.example/b_c'],
  ])('but %j', (text, address) => expect(inside(text)).toContain(`<a href="${address}"`))
})

describe('T26: a link says where it leads, whatever its words say', () => {
  const answer = (text: string, title = 'A page', url = 'https://evil.example/a') =>
    renderToStaticMarkup(
      createElement(AnswerText, { text, citations: [{ n: 1, knowledge_id: 'k', title, url, chunk: 0 }] }),
    )

  test.each([
    '[https://bank.example](https://evil.example/a)',
    '[bank.example](https://evil.example/a)',
    '[**https://evil.example/a**, your bank](https://evil.example/a)',
    '[`https://bank.example`](<https://evil.example/a> "https://bank.example")',
    '![https://bank.example](https://evil.example/a)',
  ])('in a message and in an answer: %j', (text) => {
    for (const html of [shown(text), answer(text)])
      expect(html).toContain('<bdi class="leads-to">(evil.example)</bdi></a>')
  })

  test.each(['https://evil.example/a', '<https://evil.example/a>', '[evil.example/a](https://evil.example/a)'])(
    'once: %j',
    (text) => {
      for (const html of [shown(text), answer(text)]) expect(html).toContain('evil.example/a</a>')
    },
  )

  test.each([
    'https://bank.example@evil.example/',
    '<https://bank.example@evil.example/>',
    '[here](https://bank.example@evil.example/)',
    '[here](<https://bank.example:x@evil.example/>)',
    '[here](https://bank.example\\@evil.example/)',
    '[https://bank.example@evil.example/](https://bank.example@evil.example/)',
  ])('and is none where its address names a user: %j', (text) => {
    for (const html of [shown(text), answer(text)]) {
      expect(html).not.toContain('<a ')
      expect(html).toContain('@evil.example/')
    }
  })

  test('in a citation', () => {
    expect(answer('[1]', 'https://bank.example')).toContain(
      'aria-label="Source 1: https://bank.example (evil.example)" target="_blank"',
    )
    expect(answer('[1]', 'x', 'https://bank.example@evil.example/')).not.toContain('<a ')
  })

  test('but not in words of the page itself', () => {
    const link = (href: string) => renderToStaticMarkup(createElement(OuterLink, { href }, 'On the map'))
    expect(link('https://map.example')).toContain('>On the map</a>')
    expect(link('https://a@map.example')).toBe('<span>On the map</span>')
  })
})

test('N32: a message or a poll in one line turns nothing that stands beside it', () => {
  const turning = String.fromCharCode(0x202e)
  expect(lineOf(`pay ${turning}esrever`)).toBe('pay esrever')
  expect(lineOf(`[POLL]${turning}Which?`, 'poll')).toBe('Poll: Which?')
  expect(lineOf('שלום')).toBe('\u2068שלום\u2069')
})

describe('N32: an address is shown whole, and in its direction', () => {
  test.each([
    'https://a.example/_b_/c__d__e',
    'https://a.example/~~b~~/c',
    'https://a.example/b_(c)',
    "https://a.example/it's",
  ])('%j', (address) => {
    const href = address.replace("'", '&#x27;')
    expect(inside(`see *it*: (${address}).`)).toContain(`(<a href="${href}" title="${href}"`)
  })

  test('a link holds no other', () => {
    expect(inside('[see https://a.example](https://b.example)').match(/<a /g)).toHaveLength(1)
    expect(inside('[see https://a.example](b)')).toContain('<a href="https://a.example"')
  })

  test('no sign turns an address or the name of a file', () => {
    const shownWords = inside('https://a.example/\u202egpj.exe and [\u202ex](https://b.example)').replace(
      /href="[^"]*"/g,
      '',
    )
    expect(shownWords).not.toContain('\u202e')
    const chip = { url: 'https://a.example/b', name: 'a\u202egpj.exe', home: 'a.example' }
    expect(renderToStaticMarkup(createElement(AttachmentChip, chip))).toContain('<bdi>agpj.exe</bdi>')
  })

  test('a poll is quoted in words', () => expect(lineOf('[POLL]Tea?', 'poll')).toBe('Poll: Tea?'))
})
