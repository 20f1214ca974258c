// Which way an emoji is to be shown, and what shows nothing at all.
const unseen = /[\ufe0e\ufe0f\u200b\u2060\ufeff]|\u200d$/g
// What is shown as text unless it is told to be an emoji; before the color of a skin it always is one.
const textual =
  /(?:[0-9#*](?=\u20e3)|(?=\p{Extended_Pictographic})(?=\p{Emoji})\P{Emoji_Presentation})(?!(?<=\p{Emoji_Modifier_Base})\p{Emoji_Modifier})/gu

/**
 * The one form of what somebody reacts with: composed (NFC), and each emoji "fully qualified", as Unicode's emoji-test.txt lists it.
 * `❤`, `❤️` and `❤` told to be text are all `❤️`.
 */
export const signForm = (written: string): string =>
  written.replace(unseen, '').normalize('NFC').replace(textual, '$&\ufe0f')

/** Counts by sign in its one form. Older versions stored a sign in the form it was sent in, so that several may be of one sign. */
export function countsBySign(stored: { readonly [sign: string]: number }): { [sign: string]: number } {
  const counts: { [sign: string]: number } = {}
  for (const [sign, count] of Object.entries(stored)) {
    const form = signForm(sign)
    counts[form] = (counts[form] ?? 0) + count
  }
  return counts
}
