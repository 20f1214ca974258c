import type { ReadableTexts, TextTranslation, TextTree } from './catalog.ts'
import { translations } from './language.ts'

/** The same keys in another language. The build does not compile them. */
export type SimpleTranslation<Texts> = TextTranslation<Texts>

/** A catalog of the first screen. Its texts have variables alone: the formatter of plurals and tags is too heavy there. */
export const simpleCatalog = <const Texts extends TextTree>(name: string, english: Texts): ReadableTexts<Texts> =>
  simpleTexts(english, translations[name] ?? {}) as ReadableTexts<Texts>

const simpleTexts = (english: TextTree, translated: object): object =>
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
