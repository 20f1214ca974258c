import { longestMessage } from '#shared/kit/lengths'

const prose = [
  'the quick brown fox had sold its coins and would like to buy a house near the lake but nobody knows why it is free now',
  'click here if you want to get more money today and win your first prize with our new account for all of us in 2026',
  'function return const await (value) => { if (index < 10) items[index] += value; } // https://example.com/a?b=c&d=1',
  'съешь ещё этих мягких французских булок да выпей же чаю сегодня вечером и купи немного монет',
  'le vif renard brun saute par-dessus le chien paresseux où l’été s’achève à noël',
  'zwölf boxkämpfer jagen viktor quer über den großen sylter deich und kaufen schöne äpfel',
  '今日は かなり寒い ですね 天気が良い から 散歩しよう 我们 明天 去 北京 买 东西 吗',
  'اشترى الرجل بيتا قرب البحيرة و لا أحد يعرف لماذا',
  '😀 👍🏽 ❤️ 🎉 :) ... !!! @ann #news 12:30 +49 $100 50%',
].flatMap((text) => text.split(' '))

/** The texts on which a pattern is tried: prose of several languages, and shuffled letters and signs. */
export const trialTexts: readonly Uint32Array[] = [
  textOf(prose.map((word) => `${word} `)),
  textOf([...'abcdefghijklmnopqrstuvwxyz    ']),
  textOf([...'ab']),
  textOf([...'0123456789.,:-+()/ \n']),
]

/** A deterministic text as long as the longest message, of shuffled pieces. */
function textOf(pieces: readonly string[]): Uint32Array {
  let state = 7
  const codePoints: number[] = []
  while (codePoints.length < longestMessage) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    for (const character of pieces[(state >>> 8) % pieces.length] ?? '') codePoints.push(character.codePointAt(0) ?? 0)
  }
  return Uint32Array.from(codePoints)
}
