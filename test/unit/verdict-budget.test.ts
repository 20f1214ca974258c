import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Budget, longestJudged } from '#server/domains/moderation/verdict/automaton'
import { patternLimits, trialTexts, tryPattern } from '#server/domains/moderation/verdict/patterns'
import { type BlockedWord, compileWords, findWords, type WordList } from '#server/domains/moderation/verdict/words'
import { freeSteps, stepsOfACall } from '#server/kernel/limits/budgets'
import { stepsOfAText } from '#shared/kit/budgets'

const blocked = (word: string, is_regex = false): BlockedWord => ({
  id: word,
  word,
  scope: 'room',
  action: 'block',
  is_regex,
})
const patterns = (...sources: string[]) => compileWords(sources.map((source) => blocked(source, true)))

/** Of the processor, whatever else runs: ten times what the budget stands for. */
const ceilingMilliseconds = 500

function judge(lists: readonly WordList[], ...texts: string[]) {
  const budget: Budget = { left: stepsOfAText }
  const started = process.cpuUsage()
  const told = findWords(lists, texts, budget)
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(ceilingMilliseconds)
  return { told: told?.map(({ id }) => id) ?? null, steps: stepsOfAText - budget.left, reading: budget.reading ?? 0 }
}

function shuffled(pieces: readonly string[], length: number): string {
  let [text, state] = ['', 11]
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    text += pieces[(state >>> 8) % pieces.length]
  }
  return text.slice(0, length)
}

const evil = '(?:buy|sell).{0,40}(?:crypto|coins)'
const costly = shuffled(['buy ', 'bu', 'sell', 'cryp'], 10_000)
const twenty = (source: (at: number) => string) => Array.from({ length: patternLimits.perList }, (_, at) => source(at))
const windows = twenty((at) => `(?:buy|sell|w${at}).{0,12}(?:crypto|q${at})`)

describe('N01: what a text costs', () => {
  it('is the same each time, whatever was judged before', () => {
    const [list, other] = [patterns(evil, 'other.{0,9}x'), patterns(evil, 'other.{0,9}x')]
    const first = judge([list], costly)
    for (const text of ['buy it', shuffled(['a', 'b', 'buy', 'sell'], 9_000), 'x'.repeat(5_000)]) judge([list], text)
    expect(judge([list], costly)).toEqual(first)
    expect(judge([other], costly)).toEqual(first)
  })

  it('takes no pattern out of use', () => {
    const list = patterns(evil)
    for (let time = 0; time < 5; time++) judge([list], costly)
    expect(judge([list], 'buy my coins').told).toEqual([evil])
  })

  it('is bounded for all patterns of two lists together', () => {
    const lists = [patterns(...windows), patterns(...windows)]
    expect(judge(lists, costly).steps).toBeLessThan(stepsOfAText * 1.1)
    const counters = patterns(...Array.from({ length: 5 }, (_, at) => `[ab]*a[ab]{150}${at}`))
    const { told, steps } = judge([counters, counters], shuffled(['a', 'b'], 10_000))
    expect(told).toBeNull()
    expect(steps).toBeLessThan(stepsOfAText * 1.1)
  })
})

describe('N01: floods of one kind of character', () => {
  const lists = [compileWords(['scam', 'free money', 'c++', 'z'].map((word) => blocked(word))), patterns(...windows)]
  it.each([
    ['U+FDFA', '\ufdfa', 3_000],
    ['U+FDFB', '\ufdfb', 10_000],
    ['U+3300', '\u3300', 10_000],
    ['U+33FF', '\u33ff', 10_000],
    ['marks of one class', '\u0301', 10_000],
    ['marks of several classes', '\u0301\u0334\u05b0\u064b\u0323', 2_000],
    ['signs that may be letters', '!', 10_000],
    ['signs before a letter', 'a!!!!!!!!!', 1_000],
    ['look-alikes', 'ѕсаm', 2_500],
    ['digits for letters', '5c4m1', 2_000],
    ['single letters', 'z ', 5_000],
    ['one letter', 'a', 10_000],
    ['emoji', '👩‍👩‍👧‍👦', 900],
    ['flags', '🇺🇸', 2_500],
    ['variation selectors', 'a\ufe0f', 5_000],
    ['Han', '骗子', 5_000],
    ['plus signs', '+', 10_000],
  ])('%s are judged within the budget', (_name, piece, times) => {
    judge(lists, piece.repeat(times))
    judge(lists, `a${piece.repeat(times)}a`)
  })

  it('of different characters, too', () => {
    judge(lists, Array.from({ length: 10_000 }, (_, at) => String.fromCharCode(0x4e00 + at)).join(''))
    judge(lists, Array.from({ length: 10_000 }, (_, at) => String.fromCodePoint(0x1f300 + (at % 1_000))).join(''))
  })

  it('count as what they are normalised to, over all parts', () => {
    expect(judge([], '\ufdfa'.repeat(Math.ceil(longestJudged / 18))).told).toBeNull()
    expect(judge([], ...Array.from({ length: 11 }, () => 'x'.repeat(longestJudged / 10))).told).toBeNull()
    expect(judge([], 'x'.repeat(longestJudged)).told).toEqual([])
  })
})

describe('N02: phrases', () => {
  const sixty = compileWords(Array.from({ length: 60 }, (_, at) => blocked(`${'a '.repeat(89)}b${at}`)))
  it.each([
    ['that begin everywhere', 'a '.repeat(4_900)],
    ['that begin in several spellings', 'a 4 @ '.repeat(1_600)],
  ])('of ninety words %s are found in one pass', (_name, text) => {
    expect(judge([sixty], text).told).not.toBeNull()
    expect(judge([sixty], `${'a '.repeat(4_000)} b59`).told).toEqual([`${'a '.repeat(89)}b59`])
  })

  it('of spellings that differ by the length of a run are judged within the budget', () => {
    const runs = Array.from({ length: 1_000 }, (_, at) =>
      blocked(`${'a'.repeat(1 + (at % 100))} ${'a'.repeat(1 + Math.floor(at / 100))}`),
    )
    judge([compileWords(runs)], 'aaa '.repeat(2_500))
    judge([compileWords(runs)], 'a'.repeat(10_000))
  })

  it('find the same as a search word by word', () => {
    const [one, two, three] = ['free money', 'money now', 'free money now']
    const list = compileWords([one, two, three].map((word) => blocked(word ?? '')))
    expect(judge([list], 'free free money now').told).toEqual([one, two, three])
    expect(judge([list], 'free money, n0w free').told).toEqual([one, two, three])
    expect(judge([list], 'money free now').told).toEqual([])
  })
})

describe('N02: words with signs', () => {
  it('are found in one pass, however many begin alike', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => blocked(`${'#'.repeat(150)}${at}+`))
    const list = compileWords([...many, blocked('c++')])
    expect(judge([list], `${'#'.repeat(9_000)} c++`).told).toEqual(['c++'])
    expect(judge([list], `${'#'.repeat(9_000)}77+`).told).toEqual([`${'#'.repeat(150)}77+`])
  })
})

/** Every way to write six signs that are all the same once they are composed. */
const alike = Array.from({ length: 1_000 }, (_, at) =>
  Array.from({ length: 6 }, (_, sign) => '+＋⁺₊'.charAt((at >> (2 * sign)) & 3)).join(''),
)
const separated = Array.from({ length: 1_000 }, (_, at) =>
  Array.from({ length: 6 }, (_, sign) => ".-_ '".charAt(Math.floor(at / 5 ** sign) % 5)).join(''),
)
const inner = 'aa+'.repeat(70)
const many = <T>(make: (at: number) => T, length = 1_000) => Array.from({ length }, (_, at) => make(at))

describe('N02: what is found', () => {
  const lists: readonly [title: string, words: readonly string[], text: string, told: number | null][] = [
    ['words with signs that are alike', alike, '+'.repeat(10_000), 1_000],
    ['words with signs that end together', many((at) => '+'.repeat(at + 1), 200), '+'.repeat(10_000), 200],
    ['such words that are never whole', many((at) => `${inner.slice(1, at + 4)}`, 196), 'aa+'.repeat(3_333), 0],
    ['such words before a letter', many((at) => `${'+'.repeat(at + 1)}a`, 199), `${'+'.repeat(199)}aa`.repeat(49), 0],
    ['phrases that are alike', separated.map((end) => `a${end}`), 'a b '.repeat(2_500), 1_000],
    ['phrases that are alike, with signs', separated.map((end) => `a${end}`), 'a$ '.repeat(3_333), 1_000],
    ['phrases that end together', many((at) => 'a '.repeat(at + 1), 100), 'a '.repeat(5_000), 100],
    ['patterns that end everywhere', [], 'a'.repeat(10_000), 20],
  ]
  const everywhere = patterns(...twenty((at) => `a|${at}`))

  it.each(lists)('costs once: %s', (_title, words, text, told) => {
    const list = words.length > 0 ? compileWords(words.map((word) => blocked(word))) : everywhere
    expect(judge([list], text).told?.length).toBe(told)
    judge([list], text, ...Array.from({ length: 50 }, () => text.slice(0, 60)))
    judge([list], text, ...Array.from({ length: 10 }, () => `https://files.example/${text.slice(0, 1_900)}`))
  })

  it('is paid for until it counts, and no longer', () => {
    const never = compileWords(many((at) => blocked(inner.slice(1, at + 4)), 196))
    const once = compileWords(many((at) => blocked('+'.repeat(at + 1)), 200))
    const matches = 10_000 * 60
    expect(judge([never], 'aa+'.repeat(3_333)).steps).toBeGreaterThan(matches * 5)
    expect(judge([once], '+'.repeat(10_000)).steps).toBeLessThan(matches * 5)
  })

  it('costs the same each time', () => {
    const [list, other] = [0, 1].map(() => compileWords(alike.map((word) => blocked(word))))
    const first = judge([list as WordList], `a${'+'.repeat(5_000)}`)
    judge([list as WordList], '+'.repeat(100))
    expect(judge([list as WordList], `a${'+'.repeat(5_000)}`)).toEqual(first)
    expect(judge([other as WordList], `a${'+'.repeat(5_000)}`)).toEqual(first)
  })

  it('is each of these words, wherever it is whole', () => {
    const word = fc.stringMatching(/^[+#a]{0,3}[+#][+#a]{0,3}$/)
    const text = fc.stringMatching(/^[+#a ]{0,40}$/)
    const isWhole = (within: string, at: number) => !/aa/.test(within.slice(Math.max(0, at - 1), at + 1))
    const isIn = (wanted: string, within: string) =>
      Array.from(within, (_, at) => at).some(
        (at) => within.startsWith(wanted, at) && isWhole(within, at) && isWhole(within, at + wanted.length),
      )
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 12 }), text, (words, within) => {
        const told = findWords([compileWords(words.map((one) => blocked(one)))], [within], { left: stepsOfAText })
        expect(told?.map(({ id }) => id)).toEqual(words.filter((wanted) => isIn(wanted, within)))
      }),
    )
  })

  it('is each of these phrases', () => {
    const phrase = fc
      .array(fc.constantFrom('xx', 'yy', 'zz'), { minLength: 1, maxLength: 4 })
      .map((all) => all.join(' '))
    const text = fc.array(fc.constantFrom('xx', 'yy', 'zz', 'other'), { maxLength: 20 }).map((all) => all.join(' '))
    fc.assert(
      fc.property(fc.uniqueArray(phrase, { maxLength: 12 }), text, (phrases, within) => {
        const told = findWords([compileWords(phrases.map((one) => blocked(one)))], [within], { left: stepsOfAText })
        const wanted = phrases.filter((one) => ` ${within} `.includes(` ${one} `))
        expect(told?.map(({ id }) => id)).toEqual(wanted)
      }),
    )
  })
})

describe('N02: a list that changes', () => {
  const promisedMilliseconds = 10
  const han = (words: number, length: number) =>
    many(
      (at) => String.fromCharCode(...many((sign) => 0x4e00 + ((at * 7_919 + sign * sign * 31) % 20_000), length)),
      words,
    )
  const full = [
    ['phrases in Han characters', han(250, 199)],
    ['four times as many, which an older version stored', han(1_000, 199)],
    ['words with signs in Han characters', han(250, 199).map((word) => `${word}+`)],
    ['words that are long once composed', many((at) => `${'\ufdfa'.repeat(199)}${at}`, 13)],
    ['short words', many((at) => `word${at} of a list that is full, as ${at} others are`)],
  ] as const

  it.each(full)('is compiled again for one word more: %s', (_title, words) => {
    const before = words.map((word) => blocked(word))
    compileWords(before)
    const costs = many((at) => {
      const started = process.cpuUsage()
      expect(judge([compileWords([...before, blocked(`added${at}`)])], `have added${at}`).told).toEqual([`added${at}`])
      return process.cpuUsage(started).user / 1_000
    }, 5)
    expect(Math.min(...costs)).toBeLessThan(10 * promisedMilliseconds)
  })

  it('keeps its patterns as they are', () => {
    const before = windows.map((source) => blocked(source, true))
    compileWords(before)
    const started = process.cpuUsage()
    for (let at = 0; at < 20; at++) compileWords([...before, blocked(`added${at}`)])
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(20 * promisedMilliseconds)
  })
})

const samples = {
  English: 'Nobody can claim that the token of friendship which he gave to us was a gift, or so they said. ',
  Russian: 'Съешь ещё этих мягких французских булок, да выпей же чаю. ',
  German: 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ',
  Japanese: '今日はかなり寒いですね。散歩しましょう。',
  Arabic: 'اشترى الرجل بيتا قرب البحيرة، ولا أحد يعرف لماذا ﷺ. ',
  Hindi: 'आज बहुत ठंड है, चलो टहलने चलते हैं। ',
  code: 'const total = items.filter((item) => item.price > 10).map(({ id }) => id + 1) // c++\n',
  emoji: '😀 👩‍👩‍👧‍👦 🇺🇸 ❤️ 👍🏽 wow! ',
}

describe('N01: ordinary messages of the greatest length', () => {
  const full = twenty((at) => `\\b(?:gift|w${at})[^.]{0,9}(?:token|q${at})\\b`)
  const words = Array.from({ length: 1_000 }, (_, at) => blocked(`word${at} of list`))
  const lists = [patterns(...full), compileWords(words), patterns(...full)]

  it('have patterns that may be saved together', () => {
    const others: { source: string; cost: number }[] = []
    for (const source of full) {
      const tried = tryPattern(source, others)
      expect(tried).toMatchObject({ ok: true })
      if (tried.ok) others.push({ source, cost: tried.cost })
    }
  })

  it.each(Object.entries(samples))('are judged: %s', (_language, sample) => {
    const text = shuffled(sample.split(/(?<=\s)/), 10_000)
    expect(judge(lists, text).told).not.toBeNull()
    const files = Array.from({ length: 10 }, (_, at) => [
      `https://files.example/${at}/${'a'.repeat(100)}`,
      `Photo ${at}.jpg`,
    ])
    expect(judge(lists, text, ...files.flat()).told).not.toBeNull()
  })

  it('are judged where they are what patterns are tried on', () => {
    for (const codePoints of trialTexts)
      expect(
        judge(lists, Array.from(codePoints, (codePoint) => String.fromCodePoint(codePoint)).join('')).told,
      ).not.toBeNull()
  })
})

describe('O04: a room with 500 words and 20 patterns', () => {
  const sources = [
    'fre+ (?:money|coins)',
    '(?:https?://)?t\\.me/\\w+',
    'disc[o0]rd\\.gg/\\w+',
    'bit\\.ly/\\w+',
    '\\bseed phrase\\b',
    '\\b(?:dm|pm) me\\b',
    'earn \\$?\\d+',
    '\\d+% (?:off|bonus)',
    'only ?fans',
    'whats?app \\+?\\d',
    'telegram @\\w+',
    'crypto.{0,10}giveaway',
    'double your \\w+',
    'airdrop.{0,12}claim',
    '(?:click|tap) (?:here|now)',
    'inv(?:ite|itation) link',
    'cas[i1]no\\w*',
    'v[i1]agra',
    'бесплатн\\w+ монет',
    '\\b(?:win|get|claim)\\b.{0,20}\\b(?:prize|reward)\\b',
  ]
  const words = Array.from({ length: 500 }, (_, at) => blocked(at % 3 === 0 ? `bad${at}` : `word${at} of list`))
  const list = compileWords([...words, ...sources.map((source) => blocked(source, true))])

  it.each(Object.entries(samples))(
    'judges messages of 1,000 characters without a price, the longest for four calls: %s',
    (_language, sample) => {
      const longest = shuffled(sample.split(/(?<=\s)/), 10_000)
      const searched = (text: string) => {
        const { steps, reading } = judge([list], text)
        return steps - reading
      }
      expect(searched(longest.slice(0, 1_000))).toBeLessThan(freeSteps)
      expect(searched(longest)).toBeLessThan(freeSteps + 3 * stepsOfACall)
      expect(searched(longest.slice(0, 200))).toBeLessThan(freeSteps / 5)
    },
  )
})

describe('N01: a pattern that is saved', () => {
  it.each(['(?:a|b)*a(?:a|b){30}z', '.{0,48}a.{0,49}[^ab]', '(the|a).{0,60}(scam|fraud)'])('may not be %j', (source) =>
    expect(tryPattern(source, [])).toMatchObject({ ok: false, code: 'VALIDATION_ERROR', reason: /too costly/ }),
  )

  it.each([
    evil,
    '\\b(win|get|claim)\\b.{0,40}\\b(prize|money|reward)\\b',
    'fre+ (money|coins)',
    '(https?://)?t\\.me/\\w+',
  ])('may be %j', (source) => expect(tryPattern(source, [])).toMatchObject({ ok: true }))

  it('counts beside the others of its list', () => {
    expect(tryPattern('one', [{ source: 'a{180}', cost: 1 }])).toMatchObject({ ok: true })
    const large = twenty((at) => `${at}a{100}`).map((source) => ({ source, cost: 0 }))
    expect(tryPattern('one', large.slice(0, 12))).toMatchObject({
      ok: false,
      code: 'CONFLICT',
      reason: /too large together/,
    })
    expect(tryPattern('one', [{ source: 'two', cost: stepsOfAText }])).toMatchObject({ ok: false, code: 'CONFLICT' })
  })
})
