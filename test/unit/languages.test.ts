import { describe, expect, it } from 'vitest'
import { compileWords, findWords } from '#server/domains/moderation/verdict/words'
import { looksIn, usernameLook } from '#server/domains/people/accounts/names'
import { containsWords, searchWords } from '#server/domains/rooms/room-state/search-index'
import { uniqueFormOf } from '#server/domains/rooms/rooms/names'
import { stepsOfAText } from '#shared/kit/budgets'

const isFound = (word: string, text: string, as_written = false): boolean => {
  const list = compileWords([{ id: word, word, scope: 'room', action: 'block', is_regex: false, as_written }])
  return findWords([list], [text], { left: stepsOfAText })?.length === 1
}

/** A word, a text that has it, and an innocent text that differs from it by marks. */
const languages = [
  ['English', 'scam', 'this is a ścam', 'the scampi is good'],
  ['French', 'tâche', 'une TACHE de plus', 'il se tacherait'],
  ['German', 'blöd', 'du bist BLOD', 'die Blödelei'],
  ['Spanish', 'cabrón', 'que cabron eres', 'la cabrona'],
  ['Czech', 'kráva', 'ty krava', 'kravata je modrá'],
  ['Greek', 'βλάκας', 'είσαι ΒΛΑΚΑΣ', 'η βλακεία'],
  ['Russian', 'мой', 'это мой дом', 'обои и мои окна'],
  ['Ukrainian', 'її', 'бачу її тут', 'ії не слово'],
  ['Bulgarian', 'кой', 'кой е там', 'кои са там'],
  ['Hebrew', 'שָׁקֵר', 'זה שקר גמור', 'השקרן הלך'],
  ['Arabic', 'كَذِب', 'هذا كـــذب كبير', 'هذا كاذب'],
  ['Arabic, hamza', 'سئل', 'سئل عنه', 'سيل من الماء'],
  ['Persian', 'احمق', 'تو اَحمَق هستی', 'احمقانه بود'],
  ['Hindi', 'कल', 'कल आओ', 'काला कुल कील'],
  ['Marathi', 'मूर्ख', 'तू मूर्ख आहेस', 'मर्ख मुरख'],
  ['Bengali', 'বোকা', 'তুমি বোকা', 'বকা দিও না'],
  ['Tamil', 'முட்டாள்', 'நீ முட்டாள்', 'மட்டள'],
  ['Telugu', 'పిచ్చి', 'నీకు పిచ్చి', 'పచ్చ రంగు'],
  ['Thai', 'ควาย', 'ไอ้ควายเอ๊ย', 'ความสุข'],
  ['Thai, marks', 'หมา', 'มีหมาอยู่', 'ข้าวหม่าแล้ว หม้า'],
  ['Khmer', 'ឆ្កែ', 'មានឆ្កែនៅទីនេះ', 'ឆកា'],
  ['Burmese', 'ခွေး', 'ခွေးရှိသည်', 'ခဝေ'],
  ['Japanese', 'ばか', 'お前はばかだ', '今日はかなり寒い'],
  ['Japanese, katakana', 'バカ', 'ﾊﾞｶ野郎', 'ハカセです'],
  ['Chinese', '骗子', '这是骗子吗', '骗了孩子'],
  ['Korean', '바보', '너는 바보 야', '바다 보자'],
] as const

describe('N21: marks are accents in some scripts and letters in others', () => {
  it.each(languages)('%s: %s is found in %j and not in %j', (_, word, text, innocent) => {
    expect(isFound(word, text)).toBe(true)
    expect(isFound(word, innocent)).toBe(false)
  })

  it.each([
    ['Vietnamese', 'lồn', 'đồ LỒN', 'uống lon bia lớn'],
    ['Turkish', 'ölü', 'o ÖLÜ', 'olu'],
    ['German', 'schwül', 'es ist schwül', 'er ist schwul'],
    ['Polish', 'sąd', 'ten sąd', 'piękny sad'],
    ['Swedish', 'för', 'bara för dig', 'de for hem'],
    ['Japanese', 'ばか', 'お前はばかだ', '今日はかなり寒い'],
    ['Thai', 'หมา', 'มีหมาอยู่', 'หม่า'],
    ['Arabic', 'كذب', 'هذا كـــذب', 'هذا كاذب'],
  ])('%s: as it is written, %s is found in %j and not in %j', (_, word, text, innocent) => {
    expect(isFound(word, text, true)).toBe(true)
    expect(isFound(word, text.normalize('NFD'), true)).toBe(true)
    expect(isFound(word, innocent, true)).toBe(false)
  })

  it.each([
    ['скам', 'с̶к̶а̶м̶'],
    ['скам', 'ска́м'],
    ['ёлка', 'елка'],
    ['shit', 'shїt'],
    ['scam', 'ṡ็c็ä̶m'],
    ['骗子', '骗̶子̶'],
  ])('%j is still found in its disguise %j', (word, text) => expect(isFound(word, text)).toBe(true))

  it.each([
    ['мой', 'мой дом', 'мои дома'],
    ['が', 'これが', 'これか'],
    ['काम', 'यह काम है', 'यह कम है'],
    ['malmö', 'Malmo', 'Malta'],
    ['서울', '서울에서', '부산'],
    ['محمد', 'مُحَمَّد', 'محمود'],
  ])('a search for %j finds %j and not %j', (query, text, other) => {
    expect(containsWords(text, searchWords(query))).toBe(true)
    expect(containsWords(other, searchWords(query))).toBe(false)
  })

  it.each(['ΜΑΛΑΚΑΣ', 'μαλακας', 'μαλάκασ', 'ΜΑΛΆΚΑΣ:Α', 'ΜΑΛΑΚΑΣ!', 'είσαι μαλάκαϲ', 'μaλάκας'])(
    'μαλάκας and ΜΑΛΑΚΑΣ are found in %j: a sigma is one letter, wherever it stands',
    (text) => {
      for (const word of ['μαλάκας', 'ΜΑΛΑΚΑΣ', 'μαλάκασ']) expect(isFound(word, text)).toBe(true)
      expect(isFound('μαλάκας', 'μαλακά')).toBe(false)
    },
  )

  it.each([
    ['μαλάκας', 'ΜΑΛΆΚΑΣ:Α'],
    ['μαλάκας', 'μαλάκασ'],
    ['ΜΑΛΆΚΑΣ', 'μαλάκας'],
    ['sik', 'SİK'],
    ['İsim', 'isim'],
  ])('as it is written, %j is found in %j', (word, text) => {
    expect(isFound(word, text, true)).toBe(true)
    expect(isFound(word, text.normalize('NFD'), true)).toBe(true)
  })

  it('a sigma is no o and no s, and still passes for them', () => {
    expect(isFound('όσο', 'ΟΣΟ')).toBe(true)
    for (const other of ['ΟΟΟ', 'οοο', 'ooo', 'σοσ']) expect(isFound('όσο', other)).toBe(false)
    for (const text of ['pσrn', 'p σ r n', 'pΣrn']) expect(isFound('porn', text)).toBe(true)
    for (const text of ['ςcam', 'σcam', 'ς c a m']) expect(isFound('scam', text)).toBe(true)
    expect(looksIn('ςara')).toContain('sara')
    expect(looksIn('gσσgle')).toContain(usernameLook('google'))
    expect(uniqueFormOf('Gσσgle')).toBe(uniqueFormOf('Google'))
    expect(uniqueFormOf('Θάλασσας')).toBe(uniqueFormOf('ΘΑΛΑΣΣΑΣ'))
  })

  it.each(['θαλασσ', 'ΘΑΛΑΣΣ', 'θαλασς', 'ΘΆΛΑΣ'])('a search for %j finds θάλασσα', (query) =>
    expect(containsWords('η ΘΑΛΑΣΣΑ και η θάλασσα', searchWords(query))).toBe(true),
  )

  it('names of channels that differ by a letter are two names', () => {
    expect(uniqueFormOf('Мой')).not.toBe(uniqueFormOf('Мои'))
    expect(uniqueFormOf('はな')).not.toBe(uniqueFormOf('ばな'))
    expect(uniqueFormOf('Café')).toBe(uniqueFormOf('CAFE'))
    expect(uniqueFormOf('مـحمد')).toBe(uniqueFormOf('محمد'))
  })
})

describe('N22: a sign in a word means itself', () => {
  it.each([
    ['🇺🇸', 'go 🇺🇸 go', 'come with us'],
    ['🇺🇸', '🇩🇪🇺🇸', '🇦🇺🇸🇦'],
    ['🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'for 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'a 🏴 here'],
    ['™', 'Plaza™ is', 'tm'],
    ['№', '№ 5', 'no way'],
    ['ℹ️', 'ℹ here', 'i am here'],
    ['1️⃣', '1⃣ first', '1 first'],
    ['🅱', 'so 🅱️ad', 'plan b'],
    ['Ⓜ', 'the Ⓜ', 'i m fine'],
    ['🖕', 'hey 🖕🏽', '🖖'],
    ['🔥', 'so 🔥', 'my ❤️‍🔥'],
    ['👩', 'a 👩', 'the 👨‍👩‍👧'],
    ['❤', 'with ❤️', '💚'],
    ['buy 🇺🇸', 'buy 🇺🇸!', 'buy us'],
  ])('%s is found in %j and not in %j', (word, text, innocent) => {
    expect(isFound(word, text)).toBe(true)
    expect(isFound(word, innocent)).toBe(false)
  })

  it('a text is folded all the same', () => expect(isFound('scam', '🇸🇨🇦🇲')).toBe(true))

  it.each(['5㎏ rice', '3㎝', '№5 bus', 'Plaza™', 'x²', '1️⃣st', '☎️555', 'I❤️NY', '㈱Plaza', 'a🅱c'])(
    'a search for %j finds itself',
    (text) => expect(containsWords(`say ${text} now`, searchWords(text))).toBe(true),
  )

  it.each([
    ['5kg', '5㎏ rice'],
    ['plazatm', 'Plaza™'],
    ['rice', '5㎏ rice'],
    ['㎏', '5㎏ rice'],
  ])('a search for %j finds %j', (query, text) => expect(containsWords(text, searchWords(query))).toBe(true))

  it.each([
    ['🇺🇸', 'go 🇺🇸', 'come with us'],
    ['™', 'Plaza™', 'tmux'],
    ['1️⃣', '1⃣ first', '1 first'],
  ])('a search for %s finds %j and not %j', (query, text, other) => {
    expect(containsWords(text, searchWords(query))).toBe(true)
    expect(containsWords(other, searchWords(query))).toBe(false)
  })
})
