import type { ReadableTexts, TextTree } from './catalog.ts'

/** A catalog of the first screen. Its texts have variables alone: the formatter of plurals and tags is too heavy there. */
export const simpleCatalog = <const Texts extends TextTree>(english: Texts): ReadableTexts<Texts> =>
  Object.fromEntries(Object.entries(english).map(([key, text]) => [key, readable(text)])) as ReadableTexts<Texts>

const readable = (text: string | TextTree) =>
  typeof text !== 'string'
    ? simpleCatalog(text)
    : text.includes('{')
      ? (values: Readonly<Record<string, string>>) =>
          text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
      : text
