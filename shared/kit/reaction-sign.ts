// What shows nothing by itself, and the blank cell of braille. What asks for a presentation is put where it belongs afterwards.
const unseen = /(?![\u200d\u{e0020}-\u{e007f}])[\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu
// Joiners and tags say something within an emoji of Unicode's tables alone; elsewhere they show nothing.
const loose =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}])\u200d|\u200d(?!\p{Extended_Pictographic})|(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]*)[\u{e0020}-\u{e007f}]/gu
const joined = /(\p{RGI_Emoji})|[\u200d\u{e0020}-\u{e007f}]/gv
// Text by default, unless marked as an emoji. Before a skin colour it always is an emoji.
const textual =
  /(?:[0-9#*](?=\u20e3)|(?=\p{Extended_Pictographic})(?=\p{Emoji})\P{Emoji_Presentation})(?!(?<=\p{Emoji_Modifier_Base})\p{Emoji_Modifier})/gu

/**
 * The one form of a reaction: composed (NFC), with each emoji "fully qualified", as in Unicode's emoji-test.txt. All spellings of
 * `❤️` become one, even those marked as text. Invisible characters are left out.
 */
export const signForm = (written: string): string =>
  written.replace(unseen, '').replace(loose, '').normalize('NFC').replace(textual, '$&\ufe0f').replace(joined, '$1')

/** Counts by sign in its one form. Older versions stored a sign in the form it was sent in, so that several may be of one sign. */
export function countsBySign(stored: { readonly [sign: string]: number }): { [sign: string]: number } {
  const counts: { [sign: string]: number } = {}
  for (const [sign, count] of Object.entries(stored)) {
    const form = signForm(sign)
    counts[form] = (counts[form] ?? 0) + count
  }
  return counts
}
