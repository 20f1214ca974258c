import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { processReader } from '#server/ports/reader/local'
import { docxOf, pdfOf, pdfWithFont, zipOf } from '#test/support/documents'
import { heavy } from '#test/support/heavy'

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

  test.each([true, false])('reads a Word document, deflated: %s', async (isDeflated) => {
    const row = (...cells: string[]) =>
      `<w:tr>${cells.map((cell) => `<w:tc><w:p><w:r><w:t>${cell}</w:t></w:r></w:p></w:tc>`).join('')}</w:tr>`
    const body =
      '<w:p w:id="1"><w:r><w:t xml:space="preserve">Tides &amp; </w:t></w:r><w:r><w:t>moons &#233;</w:t></w:r></w:p>' +
      `<w:p><w:r><w:delText>gone</w:delText><w:t>One</w:t><w:br/><w:t>two</w:t><w:t/></w:r></w:p><w:tbl>${row('High', 'Low')}${row('6:00', '12:10')}</w:tbl>`
    const { text } = await reader.read('docx', docxOf(body, isDeflated))
    expect(text).toBe('Tides & moons é\nOne\ntwo\nHigh | Low |\n6:00 | 12:10 |')
  })

  test.each([
    ['no archive', Buffer.from('no archive'), 'UNSUPPORTED_MEDIA_TYPE'],
    ['another archive', zipOf({ 'a.txt': 'a' }), 'UNSUPPORTED_MEDIA_TYPE'],
    ['half a document', docxOf('<w:p/>').subarray(0, 120), 'UNSUPPORTED_MEDIA_TYPE'],
    ['no text', docxOf('<w:p/>'), 'UNSUPPORTED_MEDIA_TYPE'],
    ['a bomb', docxOf(`<w:p><w:r><w:t>${'a'.repeat(40_000_000)}</w:t></w:r></w:p>`), 'PAYLOAD_TOO_LARGE'],
    ['endless tags', docxOf('<'.repeat(1_000_000)), 'UNSUPPORTED_MEDIA_TYPE'],
  ])('refuses as a Word document: %s', async (_what, document, code) => {
    await expect(reader.read('docx', document)).rejects.toMatchObject({ code })
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

describe('O01: a file that ends what reads it', () => {
  const program = new URL('../support/odd-reader.ts', import.meta.url)

  test.each([
    ['end', 60_000, 'UPSTREAM_ERROR'],
    ['fill', 60_000, 'UPSTREAM_ERROR'],
    ['swell', 60_000, 'PAYLOAD_TOO_LARGE'],
    ['hang', 2_000, 'TIMEOUT'],
  ])('%s is refused alone: those before and behind it are read', heavy, async (said, milliseconds, code) => {
    const odd = processReader({ program, milliseconds: { file: milliseconds } })
    onTestFinished(() => odd.close())
    const read = (file: string) =>
      odd.clean(['picture'], Buffer.from(file)).then(
        (clean) => Buffer.from(clean?.bytes ?? []).toString(),
        ({ code }: { code: string }) => code,
      )
    expect(await Promise.all(['one', said, 'two'].map(read))).toEqual(['one', code, 'two'])
  })

  test('documents of one agent wait for each other, and not those of others; who no longer waits is passed over', async () => {
    const odd = processReader({ program })
    onTestFinished(() => odd.close())
    const order: string[] = []
    const gone = new AbortController()
    const read = (of: string, document: string, { signal } = new AbortController()) =>
      odd.read('text', document, undefined, { of, signal }).then(({ text }) => order.push(text))
    const first = read('a', 'a 1')
    const left = read('a', 'a gone', gone)
    const all = [first, read('a', 'a 2'), read('a', 'a 3'), read('b', 'b 1'), read('c', 'c 1')]
    gone.abort(new Error('Nobody waits'))
    await expect(left).rejects.toThrow('Nobody waits')
    await Promise.all(all)
    expect(order).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'a 3'])
  })

  test('nothing is started before it is asked, nor after it is closed', async () => {
    const closed = processReader({ program })
    await closed.close()
    await expect(closed.clean(['picture'], Buffer.from('one'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

const readAs = (bytes: Uint8Array, type: string, path = '/') =>
  reader.read('page', bytes, { type, path }).catch(({ code, message }) => `${code} ${message}`)
const textIn = async (bytes: Uint8Array, type: string) => {
  const read = await readAs(bytes, type)
  return typeof read === 'string' ? read : read.text
}
/** In an encoding of one byte a character, by what its decoder says of each. */
const encoded = (text: string, label: string): Buffer => {
  if (label === 'windows-1252') return Buffer.from(text.replaceAll('’', '\x92').replaceAll('€', '\x80'), 'latin1')
  const decoder = new TextDecoder(label)
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]))
  return Buffer.from([...text].map((character) => bytes.get(character) ?? 0x3f))
}
/** The same for two bytes. */
const doubled = (text: string, label: string): Buffer => {
  const decoder = new TextDecoder(label)
  const bytes = new Map<string, number[]>()
  for (let first = 0x81; first < 0xff; first++)
    for (let second = 0x40; second < 0xff; second++) {
      const character = decoder.decode(Uint8Array.of(first, second))
      if (!bytes.has(character)) bytes.set(character, [first, second])
    }
  return Buffer.from(
    [...text].flatMap((one) => (one.charCodeAt(0) < 0x80 ? one.charCodeAt(0) : (bytes.get(one) ?? 0x3f))),
  )
}
const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16()

describe('O22: a document is read in its encoding', () => {
  const french = 'Le café est fermé à Noël, où l’élève a déjà reçu sa pièce de théâtre préférée.'
  const russian = 'Москва — столица России, город федерального значения, и её население велико.'
  const chinese =
    '城市,人口,面积\n北京,二千一百万,很大\n上海,二千四百万,较小\n广州,一千八百万,中等\n深圳的经济发展得非常迅速'
  const japanese = '東京は日本の首都であり、世界でも有数の大都市です。ひらがなとカタカナも書きます。'
  const korean = '서울은 대한민국의 수도이며 많은 사람들이 살고 있는 큰 도시입니다.'

  test.each([
    ['by its header', encoded(`<p>${french}`, 'windows-1252'), 'text/html; charset=windows-1252', french],
    ['by its meta', encoded(`<meta charset="windows-1251"><p>${russian}`, 'windows-1251'), 'text/html', russian],
    [
      'by the older form of its meta',
      encoded(
        `<META http-equiv='Content-Type' content='text/html; charset=koi8-r'><p>${russian.replace('—', '-')}`,
        'koi8-r',
      ),
      'text/html',
      russian.replace('—', '-'),
    ],
    [
      'by its XML declaration',
      encoded(`<?xml version="1.0" encoding="windows-1252"?><html><p>${french}</p></html>`, 'windows-1252'),
      'application/xhtml+xml',
      french,
    ],
    ['by the meta of Shift_JIS', doubled(`<meta charset=shift_jis><p>${japanese}`, 'shift_jis'), 'text/html', japanese],
    ['as UTF-8 where nothing is said', Buffer.from(`<p>${russian}`), 'text/html', russian],
    [
      'as UTF-8 with a mark, whatever its header says',
      Buffer.from(`\ufeff${french}`),
      'text/plain; charset=latin1',
      french,
    ],
    ['as UTF-16 with a mark', Buffer.from(`\ufeff${russian}`, 'utf16le'), 'text/plain', russian],
    ['as UTF-16 of the other order', swapped(`\ufeff${chinese}`), 'text/csv', chinese],
    ['as UTF-16 by its header', Buffer.from(french, 'utf16le'), 'text/plain; charset=utf-16le', french],
    ['as HTML in UTF-16', Buffer.from(`\ufeff<!doctype html><p>${korean}`, 'utf16le'), 'text/html', korean],
    ['as its bytes look: GBK', doubled(chinese, 'gbk'), 'text/csv', chinese],
    ['as its bytes look: windows-1252', encoded(french, 'windows-1252'), 'text/csv', french],
    ['as its bytes look, in a word', encoded('id,name\n1,José\n', 'windows-1252'), 'text/csv', 'id,name\n1,José\n'],
    ['as UTF-16 without a mark', Buffer.from(french, 'utf16le'), 'text/plain', french],
    ['as UTF-16 of the other order without a mark', swapped(french), 'text/plain', french],
    ['as its bytes look: windows-1251', encoded(russian, 'windows-1251'), 'text/plain', russian],
    ['as its bytes look: EUC-KR', doubled(korean, 'euc-kr'), 'text/plain', korean],
    ['as its bytes look: Shift_JIS', doubled(japanese, 'shift_jis'), 'text/plain', japanese],
    ['as its bytes look, not as its header says', encoded(french, 'windows-1252'), 'text/csv; charset=utf-8', french],
    [
      'by its meta where nobody knows the name in its header',
      Buffer.from(`<meta charset=utf8><p>${french}`),
      'text/html; charset=none',
      french,
    ],
  ])('%s', async (_how, bytes, type, text) => expect(await textIn(bytes, type)).toBe(text))

  const lines = {
    Japanese: ['名前,住所,電話\n田中太郎,東京都渋谷区,なし\n佐藤花子,大阪府,あり\n', '注文は\nまだ\n来ません\n'],
    simplified: ['姓名,城市,性别\n张伟,北京,男\n李娜,上海,女\n', '你好\n我们明天\n再见\n'],
    traditional: ['姓名,城市,性別\n陳大文,臺北,男\n林美玲,高雄,女\n', '你好\n我們明天\n再見\n'],
    Korean: ['이름,도시,성별\n김철수,서울,남\n이영희,부산,여\n', '안녕하세요\n내일 오후에\n만나요\n'],
  }
  test.each([
    ['shift_jis', lines.Japanese],
    ['euc-jp', lines.Japanese],
    ['gbk', lines.simplified],
    ['big5', lines.traditional],
    ['euc-kr', lines.Korean],
  ] as const)('three lines in %s are read as such where nothing says so', async (label, texts) => {
    for (const text of texts)
      for (const type of ['text/csv', 'text/plain']) expect(await textIn(doubled(text, label), type)).toBe(text)
  })

  test.each([
    ['windows-1252', 'It’s Anna’s tea\nBen’s and Zoe’s\nnobody’s\n'],
    ['windows-1252', 'It’s Anna’s café: Zoë’s crème brûlée, £3\nMüller;Größe;Köln\nÜber São João, señor\n'],
    ['windows-1251', 'Имя,Город\nАнна,Москва\nПётр,Тверь\n'],
    ['koi8-r', 'Имя;Город;Возраст\nАнна;Москва;сорок\nПётр;Тверь;десять\n'],
  ])('three lines in %s are not taken for an Eastern language', async (label, text) => {
    const read = await textIn(encoded(text, label), 'text/csv')
    expect(read).not.toMatch(/[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u)
    if (label === 'windows-1252') expect(read).toBe(text)
  })

  test('one byte that is damaged spoils no page', async () => {
    const page = Buffer.concat([Buffer.from(`<p>${russian}`), Buffer.from([0xff]), Buffer.from(chinese)])
    expect(await textIn(page, 'text/html; charset=utf-8')).toBe(russian + chinese)
  })

  test.each([
    ['bytes that stand for nothing', Buffer.from(Array.from({ length: 600 }, (_, at) => 0x80 + ((at * 7919) % 127)))],
    ['bytes of zero', Buffer.alloc(500)],
    ['an object file', Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(900, '\0\x01\xc3\x90')])],
  ])('%s are refused, and say why', async (_what, bytes) => {
    expect(await textIn(bytes, 'text/plain')).toMatch(/^UNSUPPORTED_MEDIA_TYPE The page is (no text|in an encoding)/)
  })
})

describe('O23: a PDF', () => {
  const asian = (encoding: string, ordering: string, bytes: Buffer) =>
    pdfWithFont(
      `<< /Type /Font /Subtype /Type0 /BaseFont /Somewhere /Encoding /${encoding} /DescendantFonts [7 0 R] >>`,
      [
        `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Somewhere /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> /FontDescriptor 8 0 R >>`,
        '<< /Type /FontDescriptor /FontName /Somewhere /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 800 /StemV 80 >>',
      ],
      `72 720 Td <${bytes.toString('hex')}> Tj`,
    )

  test.each([
    ['GBK-EUC-H', 'GB1', doubled('月亮牵引着海洋', 'gbk'), '月亮牵引着海洋'],
    ['UniGB-UCS2-H', 'GB1', swapped('月亮牵引着海洋'), '月亮牵引着海洋'],
    ['ETen-B5-H', 'CNS1', doubled('月亮牽引著海洋', 'big5'), '月亮牽引著海洋'],
    ['90ms-RKSJ-H', 'Japan1', doubled('月は海を引く', 'shift_jis'), '月は海を引く'],
    ['KSCms-UHC-H', 'Korea1', doubled('달은 바다를 당긴다', 'euc-kr'), '달은 바다를 당긴다'],
  ])('whose font is not in it has text: %s', async (encoding, ordering, bytes, text) => {
    expect((await reader.read('pdf', asian(encoding, ordering, bytes))).text).toBe(text)
  })

  const letters = [...'אבגדהוזחטיךכלםמןנסעףפץצקרשתابةتجحدرسلمنهوي']
  const rightToLeft = (drawn: readonly (readonly [x: number, text: string])[]) => {
    const rows = letters.map((letter, at) => `<${(0xa1 + at).toString(16)}> <0${letter.charCodeAt(0).toString(16)}>`)
    const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange ${rows.length} beginbfchar ${rows.join(' ')} endbfchar endcmap end end`
    const codes = (text: string) =>
      Buffer.from([...text].map((one) => (letters.includes(one) ? 0xa1 + letters.indexOf(one) : one.charCodeAt(0))))
    return pdfWithFont(
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 7 0 R >>',
      [`<< /Length ${map.length} >>\nstream\n${map}\nendstream`],
      drawn.map(([x, text]) => `1 0 0 1 ${x} 720 Tm <${codes(text).toString('hex')}> Tj`).join(' '),
    )
  }
  const seen = (text: string) => [...text].reverse().join('')

  test.each([
    [
      'Hebrew as it is seen',
      [
        [72, seen('טוב')],
        [150, seen('עולם')],
        [230, seen('שלום')],
      ],
      'שלום עולם טוב',
    ],
    [
      'Hebrew word by word',
      [
        [230, seen('שלום')],
        [150, seen('עולם')],
        [72, seen('טוב')],
      ],
      'שלום עולם טוב',
    ],
    [
      'Arabic as it is seen',
      [
        [72, seen('سلام')],
        [150, seen('مدرسة')],
      ],
      'مدرسة سلام',
    ],
    [
      'English in Hebrew',
      [
        [72, seen('טוב')],
        [150, 'Hi'],
        [190, 'all'],
        [270, seen('שלום')],
      ],
      'שלום Hi all טוב',
    ],
    [
      'Hebrew in English',
      [
        [72, 'The word'],
        [150, seen('עולם')],
        [210, seen('שלום')],
        [270, 'is two words'],
      ],
      'The word שלום עולם is two words',
    ],
  ] as const)('is read in the order of its readers: %s', async (_what, drawn, text) => {
    expect((await reader.read('pdf', rightToLeft(drawn))).text).toBe(text)
  })

  test('without text says so', async () => {
    const picture = pdfOf('Scanned', [''])
    await expect(reader.read('pdf', picture)).rejects.toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'The PDF holds no text, only pictures of it',
    })
  })

  test('of more than 300 pages says so', async () => {
    const long = pdfOf('Long', Array<string>(301).fill('text'))
    await expect(reader.read('pdf', long)).rejects.toMatchObject({ message: 'The PDF has more than 300 pages' })
  })
})

describe('O24: what a page lays out', () => {
  const text = async (html: string) => (await reader.read('page', html)).text
  const row = (...cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`

  test.each([
    [
      'empty cells keep their columns',
      `<table><tr><th>Town<th>North<th>South</tr>${row('Bonn', '', '3')}${row('', '4', '')}${row('', '', '')}</table>`,
      'Town | North | South\nBonn | | 3\n| 4 |',
    ],
    [
      'a cell over rows and columns is in each of them',
      '<table><tr><td rowspan=2>Rhine<td colspan=2>both</tr><tr><td>left<td>right</tr><tr><td>a<td>b<td>c</tr></table>',
      'Rhine | both | both\nRhine | left | right\na | b | c',
    ],
    [
      'lines within a cell are one',
      row('Mon<br>Tue', '<p>9</p><p>17</p>').replace(/.*/, '<table>$&</table>'),
      'Mon Tue | 9 17',
    ],
    [
      'a table that lays out a page is none',
      `<table>${row(`<p>First</p><p>Second</p>${'long '.repeat(120)}`, row('a', 'b').replace(/.*/, '<table>$&</table>'))}</table>`,
      `First\nSecond\n${'long '.repeat(120).trim()}\na | b`,
    ],
    ['a table without an end', '<p>Before<table><tr><td>a<td>b', 'Before\na | b'],
    [
      'code keeps its indentation',
      '<p>So:</p><pre>\nif (a) {\n    b()\n\n\tc()\n}\n</pre><p>and   on',
      'So:\nif (a) {\n    b()\n\n\tc()\n}\nand on',
    ],
    ['code of lines that are elements', '<pre><code><div>a:</div><div>  <span>b</span></div></code></pre>', 'a:\n  b'],
    ['code in a table', `<table>${row('<pre>1\n2</pre>', '<pre>a\n  b</pre>')}</table>`, '1\n2\na\n  b'],
  ])('%s', async (_what, html, expected) => expect(await text(html)).toBe(expected))

  test('code of an article keeps its indentation too', async () => {
    const { text } = await reader.read('article', article.replace('<p>One', '<pre>a:\n    b</pre><p>One'))
    expect(text).toContain('a:\n    b\n')
  })

  test('code of Markdown is code', async () => {
    const code = '```ts\nconst a: Map<string, number> = [x](y)\n    <b>c</b>  <!-- d -->\n```'
    const { text } = await reader.read('markdown', `# A\n\n- [b](c)\n  - <i>d</i>\n\n${code}\n\nafter <b>it</b>`)
    expect(text).toBe(`# A\n\n- b\n  - d\n\n${code}\n\nafter it`)
  })

  test('a table in text keeps its empty cells', async () => {
    const table = 'a\tb\tc\n1\t\t3\n\t\t\n'
    expect(await textIn(Buffer.from(table), 'text/tab-separated-values')).toBe(table)
  })
})
