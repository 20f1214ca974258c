import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { checkPattern } from '#server/domains/moderation/verdict/patterns'
import {
  type BlockedWord,
  compileWords,
  findWords,
  firstHit,
  type WordList,
} from '#server/domains/moderation/verdict/words'
import { stepsOfAText } from '#shared/kit/budgets'
import { evilPatterns, evilTexts } from '#test/support/evil-patterns'
import { heavy } from '#test/support/heavy'

function blocked(word: string, more: Partial<BlockedWord> = {}): BlockedWord {
  return { id: word, word, scope: 'room', action: 'block', is_regex: false, ...more }
}

const pattern = (source: string, more: Partial<BlockedWord> = {}) => blocked(source, { is_regex: true, ...more })

const hitsIn = (lists: readonly WordList[], text: string) => findWords(lists, [text], { left: stepsOfAText }) ?? []

function found(text: string, ...words: BlockedWord[]): string[] {
  return hitsIn([compileWords(words)], text).map(({ id }) => id)
}

describe('plain words', () => {
  it.each([
    ['scam', 'scam'],
    ['scam', 'a SCAM, really'],
    ['scam', 'scam!'],
    ['scam', '(scam)'],
    ['scam', '@scam'],
    ['scam', 'not_scam_at_all'],
    ['scam', '$c@m'],
    ['scam', '5c4m'],
    ['scam', '5c4m!'],
    ['scam', 's\u200bc\u2060a\ufeffm'],
    ['scam', 'ｓｃａｍ'],
    ['scam', 'sсаm'],
    ['scam', '𝐬𝐜𝐚𝐦'],
    ['scam', 's̶c̶a̶m̶'],
    ['scam', 'ṡćäm'],
    ['scam', 'ⓢⓒⓐⓜ'],
    ['scam', 'ꜱᴄᴀᴍ'],
    ['scam', '🇸🇨🇦🇲'],
    ['scam', '🅂🄲🄰🄼'],
    ['scam', 'scaaaam'],
    ['scam', 'SSSCAMMM'],
    ['scam', 's c a m'],
    ['scam', 's.c.a.m'],
    ['scam', 's-c_a*m'],
    ['zork', 'z o r k'],
    ['zork', 'the z  o  r  k now'],
    ['zork', 'z 0 r k'],
    ['ass', 'asss'],
    ['ass', '@ss'],
    ['asshole', 'aaassshole'],
    ['hello', 'he11o'],
    ['hello', 'hellllo'],
    ['bill', 'b1ll'],
    ['free money', 'FREE   money!'],
    ['free money', 'free-money'],
    ["don't", "I don't know"],
    ['420', 'at 420 today'],
    ['b4by', 'b4by'],
    ['骗子', '这是骗子吗'],
    ['скам', 'это скам'],
    ['🖕', 'hey🖕you'],
    ['c++', 'I like C++ a lot'],
    ['#tag', 'see #tag'],
    ['a$$', 'what an a$$'],
    ['straße', 'Strasse'],
  ])('%j is found in %j', (word, text) => expect(found(text, blocked(word))).toEqual([word]))

  it.each([
    ['scam', 'escamillo'],
    ['scam', 'scams'],
    ['scam', '5 cam'],
    ['scam', 'his camera'],
    ['scam', 's came'],
    ['zork', 'zor k'],
    ['zork', 'fez orkney'],
    ['zork', 'i z o r k'],
    ['ass', 'as'],
    ['ass', 'class'],
    ['ass', 'c l a s s'],
    ['ass', '455'],
    ['god', 'good'],
    ['good', 'god'],
    ['fail', 'fall'],
    ['100', '1000'],
    ['100', '10000'],
    ['free money', 'money free'],
    ['free money', 'free of money'],
    ['c++', 'c'],
    ['#tag', 'x#tags'],
    ['baby', 'b 4'],
    ['scam', ''],
  ])('%j is not found in %j', (word, text) => expect(found(text, blocked(word))).toEqual([]))

  it.each([
    ['scam', '\u202emacs', 'text turned round by a direction character'],
    ['scam', 'ᔕᑕᗩᗰ', 'Canadian syllabics'],
    ['scam', 'scaam', 'one letter doubled, as many true words have'],
    ['scam', 'sc am', 'a word broken in pieces of more than one character'],
    ['scam', 'xscam', 'a letter put before it'],
  ])('T18: %j is known to be missed in %j: %s', (word, text) => expect(found(text, blocked(word))).toEqual([]))

  it('T18: takes a Cyrillic word for the Latin one it looks like', () => {
    expect(found('рот', blocked('pot'))).toEqual(['pot'])
  })

  it('finds a word among any others, and never a word that is not there', () => {
    const word = fc.stringMatching(/^[a-z]{4,12}$/)
    fc.assert(
      fc.property(word, fc.array(word), fc.array(word), (wanted, before, after) => {
        const list = compileWords([blocked(wanted)])
        const others = [...before, ...after].filter((other) => other !== wanted)
        expect(hitsIn([list], [...before, wanted, ...after].join(' '))).toHaveLength(1)
        const drawn = others.some((other) => /(.)\1\1/.test(other))
        if (!drawn) expect(hitsIn([list], others.join(' '))).toEqual([])
      }),
    )
  })

  it('takes any text and any word without throwing', heavy, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (word, text) => {
        hitsIn([compileWords([blocked(word), pattern(word)])], text)
      }),
    )
  })

  it('reports a word that holds nothing', () => {
    const reported: string[] = []
    const list = compileWords([blocked('  '), blocked('scam')], (id) => reported.push(id))
    expect(reported).toEqual(['  '])
    expect(hitsIn([list], 'a scam')).toHaveLength(1)
  })
})

describe('the order of hits', () => {
  const global = compileWords([
    blocked('one', { id: 'g1', scope: 'global', action: 'flag' }),
    pattern('t.o', { id: 'g2', scope: 'global', action: 'mute' }),
  ])
  const room = compileWords([
    pattern('thre+', { id: 'r1' }),
    blocked('four', { id: 'r2' }),
    blocked('two', { id: 'r3' }),
  ])

  it('is that of the lists, not of the text', () => {
    expect(hitsIn([global, room], 'four three two one').map(({ id }) => id)).toEqual(['g1', 'g2', 'r1', 'r2', 'r3'])
  })

  it('lets the first word that refuses decide', () => {
    expect(firstHit(hitsIn([global, room], 'four three two one'))).toEqual({
      id: 'g2',
      scope: 'global',
      action: 'mute',
      is_regex: true,
    })
    expect(firstHit(hitsIn([global, room], 'one four three'))?.id).toBe('r1')
    expect(firstHit(hitsIn([global, room], 'one'))).toBeNull()
  })
})

describe('patterns', () => {
  it.each([
    ['sc[ao]m', 'SCOM'],
    ['^hello$', 'Hello'],
    ['\\bbuy\\s+now\\b', 'please BUY  now'],
    ['ｂｕｙ', 'nothing'],
    ['scam', 'ｓｃａｍ'],
    ['\\d{4}-\\d{4}', 'call 5555-1234'],
    ['это', 'ЭТО'],
  ])('%j on %j agrees with the engine on the composed text', (source, text) => {
    const expected = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).test(text.normalize('NFKC'))
    expect(found(text, pattern(source))).toEqual(expected ? [source] : [])
  })

  it.each([
    ['\\bплохо\\b', 'это плохо!', true],
    ['\\bплохо\\b', 'ПЛОХО', true],
    ['\\bплохо\\b', 'неплохо', false],
    ['\\bплохо\\b', 'плохой', false],
    ['\\bκακό\\b', 'είναι κακό.', true],
    ['\\bκακό\\b', 'κακός', false],
    ['\\bسيئ\\b', 'هذا سيئ جدا', true],
    ['\\bसड़\\b', 'सड़ गया', true],
    ['\\bसड़\\b', 'सड़क', false],
    ['плох\\B', 'плохо', true],
    ['плох\\B', 'плох!', false],
    ['\\b.лохо', 'неплохо', false],
    ['\\bcat\\b', 'cat é', true],
    ['\\bcaf\\b', 'café', false],
    ['\\b[^a-z]+\\b', 'ab', false],
    ['№\\s?\\d+', '№ 5', true],
  ] as const)('N30: %j on %j knows the edges of words in every script', (source, text, isIn) => {
    expect(found(text, pattern(source))).toEqual(isIn ? [source] : [])
    expect(found(text, pattern('zork'), pattern(source), pattern('^q$'))).toEqual(isIn ? [source] : [])
  })

  it.each([
    ['cafe\u0301', 'caf\u00e9', true],
    ['[e\u0301]', 'cafe\u0301', true],
    ['[e\u0301]', 'cafe', false],
    ['\u095d', 'प\u095d', true],
    ['\u09df', 'য\u09bc', true],
    ['\ufb2a', 'שׁ', true],
    ['\u1107\u1161\u1107\u1169', '바보', true],
    ['^\\w+ый$', 'новый', true],
    ['^\\w+$', 'भाषा', true],
    ['^[\\w]+$', '한국어', true],
    ['\\W', 'новый', false],
    ['[\\W]', 'новый', false],
    ['[\\W]', 'новый!', true],
    ['[^\\W]', 'я', true],
    ['[^\\W]', '!', false],
    ['^[[:alpha:]]+$', 'привет', true],
    ['[[:^alpha:]]', 'привет', false],
    ['[[:^alpha:]]', 'привет5', true],
    ['[[:digit:]\\w]', 'ж', true],
    ['[]\\w]', 'ж', true],
    ['\\Q\\w\\E', '\\w', true],
    ['\\Q\\w\\E', 'w', false],
  ] as const)('N30: %j on %j is composed as texts are, and knows the letters of every script', (source, text, isIn) => {
    expect(checkPattern(source)).toMatchObject({ ok: true })
    expect(found(text, pattern(source))).toEqual(isIn ? [source] : [])
    expect(found(text, pattern('zork'), pattern(source), pattern('^q$'))).toEqual(isIn ? [source] : [])
  })

  it.each([
    'x\\by',
    'x\\B-',
    'foo^bar',
    'a$b',
    '(?m)a$b',
    '(x\\by|a$b)',
    '\\zabc',
    'abc\\A',
    '[^\\s\\S]',
    '\\p{Cs}',
    '\\x{D800}',
    '\\x{95D}',
    '\\x00',
  ])('N30: %j can never be found, and is refused', (source) =>
    expect(checkPattern(source)).toMatchObject({ ok: false, reason: expect.stringContaining('can never be found') }),
  )

  it.each([
    'x\\b',
    '\\bx\\b',
    '(x\\by|z)',
    '(a$)?b',
    '(?m)a$\\nb',
    '\\Aabc\\z',
    '[^\\W]',
    '[\\x{D000}-\\x{FFFF}]',
    '\\x{1F600}',
    '\\n',
    '\\B',
    '^\\s+$',
  ])('N30: %j is taken, as it can be found', (source) => expect(checkPattern(source)).toMatchObject({ ok: true }))

  it('never sees the skeleton', () => {
    expect(found('$c@m', pattern('scam'))).toEqual([])
    expect(found('$c@m', pattern('\\$c@m'))).toHaveLength(1)
  })

  it.each([
    ['(?=x)', 'Lookahead is not supported: (?='],
    ['(?!x)', 'Lookahead is not supported: (?!'],
    ['(?<=x)y', 'Lookbehind is not supported: (?<='],
    ['(?<!x)y', 'Lookbehind is not supported: (?<!'],
    ['(a)\\1', 'A backreference is not supported: \\1'],
    ['(?<n>a)\\k<n>', 'A backreference is not supported: \\k'],
    ['(?>a)', 'An atomic group is not supported: (?>'],
    ['\\u0041', 'A Unicode escape is not supported: \\u'],
    ['[^]', 'An empty class is not supported: [^]'],
    ['(unclosed', 'The pattern is not valid: missing closing ): `(unclosed`'],
    ['a{2000}', 'The pattern is not valid: invalid repeat count: `{2000}`'],
    ['a++', 'The pattern is not valid: invalid nested repetition operator: `++`'],
    ['*a', 'The pattern is not valid: missing argument to repetition operator: `*`'],
    ['\\', 'The pattern is not valid: trailing backslash at end of expression'],
    ['', 'The pattern is empty'],
    ['a'.repeat(201), 'The pattern is longer than 200 characters'],
    ['.{0,500}a.{0,500}', 'The pattern is too large: 2004 steps, at most 200'],
  ])('refuses %j and says why', (source, reason) => {
    const check = checkPattern(source)
    expect(check.ok).toBe(false)
    if (!check.ok && !reason.includes('too large')) expect(check.reason).toBe(reason)
  })

  it('says how large a pattern is', () => expect(checkPattern('(a+)+$')).toEqual({ ok: true, programSize: 8 }))

  it('leaves out a bad stored pattern alone', () => {
    const reported: [string, string][] = []
    const words = [pattern('(?=x)'), pattern('good'), pattern('[z-a]'), blocked('scam'), pattern('(a)\\1')]
    const list = compileWords(words, (id, reason) => reported.push([id, reason]))
    expect(reported.map(([id]) => id)).toEqual(['(?=x)', '[z-a]', '(a)\\1'])
    expect(hitsIn([list], 'a good scam').map(({ id }) => id)).toEqual(['good', 'scam'])
  })

  it('takes at most 20 patterns and 1,000 steps a list', () => {
    const reported: string[] = []
    compileWords(
      Array.from({ length: 25 }, (_, at) => pattern(`w${at}`)),
      (id) => reported.push(id),
    )
    expect(reported).toEqual(['w20', 'w21', 'w22', 'w23', 'w24'])
    reported.length = 0
    compileWords(
      Array.from({ length: 10 }, (_, at) => pattern(`${at}a{180}`)),
      (id) => reported.push(id),
    )
    expect(reported).toHaveLength(5)
  })

  it('finds the same together, alone, and in slices', () => {
    const sources = ['ab+c', '\\bcat\\b', '^x', 'y$', '[0-9]{3}', '(foo|bar)baz', `[^q]{3}q[^q]{150}q`]
    const piece = fc.constantFrom('abbc', ' cat ', 'x', 'y', '123', 'foobaz', 'q', 'zzz', ' ', `q${'w'.repeat(150)}q`)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('')
        const expected = sources.filter((source) => RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).test(text))
        expect(found(text, ...sources.map((source) => pattern(source)))).toEqual(expected)
        expect(sources.filter((source) => found(text, pattern(source)).length > 0)).toEqual(expected)
      }),
      { numRuns: 50 },
    )
    const long = `${'v'.repeat(9_000)}fooq${'w'.repeat(150)}q`
    expect(found(long, pattern('[^q]{3}q[^q]{150}q'))).toHaveLength(1)
  })
})

describe('T17: evil patterns', () => {
  it('are more than forty', () => expect(new Set(evilPatterns).size).toBeGreaterThan(40))

  it.each(evilPatterns)('%j agrees with the engine on every evil text, or takes no more than the budget', (source) => {
    const list = compileWords([pattern(source)])
    for (const text of evilTexts) {
      const budget = { left: stepsOfAText }
      const told = findWords([list], [text], budget)
      expect(told === null).toBe(budget.left < 0)
      if (told !== null && checkPattern(source).ok)
        expect(told.length > 0).toBe(RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).test(text))
    }
  })
})
