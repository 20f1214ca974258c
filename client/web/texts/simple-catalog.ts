import type { ReadableTexts, TextTranslation, TextTree } from './catalog.ts'
import { translationOf } from './language.ts'

/** The same keys in another language. The build does not compile them. */
export type SimpleTranslation<Texts> = TextTranslation<Texts>

/**
 * A catalog of the first screen. Its texts have variables alone: the formatter of plurals and tags is too heavy there.
 * They are translated when the first of them is read, as their module is there before the language.
 */
export function simpleCatalog<const Texts extends TextTree>(name: string, english: Texts): ReadableTexts<Texts> {
  let texts: Readonly<Record<string | symbol, unknown>> | undefined
  return new Proxy(english as object as ReadableTexts<Texts>, {
    get: (_, key) => {
      texts ??= simpleTexts(english, translationOf(name))
      return texts[key]
    },
  })
}

const simpleTexts = (english: TextTree, translated: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries({ ...english, ...translated }).map(([key, text]) => [key, readable(text, english[key] ?? '')]),
  )

const readable = (text: string | object, english: string | TextTree) =>
  typeof english !== 'string'
    ? simpleTexts(english, text as object)
    : english.includes('{')
      ? (values: Readonly<Record<string, string | number>>) =>
          String(text).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
      : text
