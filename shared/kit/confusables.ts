// Lowercase characters that pass for ASCII letters and that no Unicode normal form maps to them.
const looksLike: Readonly<Record<string, string>> = {
  a: 'аαɑᴀ',
  b: 'вьβʙƅ',
  c: 'сᴄϲ',
  d: 'ԁᴅđɖɗ',
  e: 'еёεᴇɛєℯ',
  f: 'ꜰƒ',
  g: 'ɡɢԍց',
  h: 'нһʜհħ',
  i: 'іιıɪɩӏ',
  j: 'јᴊ',
  k: 'кκᴋқ',
  l: 'ʟłⅼǀ',
  m: 'мᴍ',
  n: 'пηɴո',
  o: 'оοᴏօø',
  p: 'рρᴘ',
  q: 'ԛգ',
  r: 'гʀɾ',
  s: 'ѕꜱƽ',
  t: 'тτᴛŧ',
  u: 'υᴜսμʋ',
  v: 'ѵνᴠ',
  w: 'ԝωᴡѡա',
  x: 'хχ×',
  y: 'уүγʏ',
  z: 'ᴢʐ',
  ae: 'æ',
  oe: 'œ',
  ss: 'ß',
}

const asciiOf = new Map(Object.entries(looksLike).flatMap(([ascii, twins]) => [...twins].map((twin) => [twin, ascii])))

// Letters in flags (🇦) and in black squares and circles (🅰, 🅐).
const drawnLetters = [0x1f1e6, 0x1f150, 0x1f170]

/** Replaces each look-alike by the ASCII it passes for. */
export function unmask(text: string): string {
  let plain = ''
  for (const character of text) plain += asciiOf.get(character) ?? drawnLetter(character) ?? character
  return plain
}

function drawnLetter(character: string): string | undefined {
  if (character.length === 1) return undefined
  const point = character.codePointAt(0) ?? 0
  const first = drawnLetters.find((start) => point >= start && point < start + 26)
  return first === undefined ? undefined : String.fromCharCode(97 + point - first)
}
