import type { GetICUArgs } from '@schummar/icu-type-parser'
import compile from 'icu-minify/compile'
import format, { type CompiledMessage, type FormatValues } from 'icu-minify/format'
import { createElement, Fragment, type ReactNode } from 'react'
import { locale, translationOf } from './language.ts'

/** Texts by their keys; a group has its own keys. */
export interface TextTree {
  readonly [key: string]: string | TextTree
}

type Arguments = { ICUArgument: string | number; ICUNumberArgument: number; ICUDateArgument: Date }
type Variables<Text extends string> = GetICUArgs<Text, Arguments>
type TagsIn<Text> = Text extends `${string}</${infer Tag}>${infer Rest}` ? Tag | TagsIn<Rest> : never
type Elements<Text> = { [Tag in TagsIn<Text>]: (parts: ReactNode) => ReactNode }

/** A text without variables is a string; with variables it is a function of them, and with tags its result has elements. */
type Readable<Text extends string> = [TagsIn<Text>] extends [never]
  ? [keyof Variables<Text>] extends [never]
    ? string
    : (values: Variables<Text>) => string
  : (values: Variables<Text> & Elements<Text>) => ReactNode

export type ReadableTexts<Texts> = {
  readonly [Key in keyof Texts]: Texts[Key] extends string ? Readable<Texts[Key]> : ReadableTexts<Texts[Key]>
}
/** The same keys in another language. A missing text is shown in English. */
export type TextTranslation<Texts> = {
  readonly [Key in keyof Texts]?: Texts[Key] extends string | ((values: never) => unknown)
    ? string
    : TextTranslation<Texts[Key]>
}

/** The texts of a folder of the page: ICU messages in English. Their keys say where a text is shown, or what it does. */
export const textCatalog = <const Texts extends TextTree>(name: string, english: Texts): ReadableTexts<Texts> =>
  readableTexts(english, translationOf(name) as TextTranslation<Texts>, locale)

export function readableTexts<const Texts extends TextTree>(
  english: Texts,
  translation: NoInfer<TextTranslation<Texts>> | undefined,
  locale: string,
): ReadableTexts<Texts> {
  const translated: Readonly<Record<string, unknown>> = translation ?? {}
  const entries = Object.entries<string | CompiledMessage | TextTree>(english).map(([key, text]) => [
    key,
    typeof text === 'string' || Array.isArray(text)
      ? readable(text, (translated[key] ?? text) as string, locale)
      : readableTexts(text, translated[key] as TextTranslation<TextTree>, locale),
  ])
  return Object.fromEntries(entries) as ReadableTexts<Texts>
}

/** The build compiles messages; elsewhere that is done here. */
function readable(english: string | CompiledMessage, shown: string | CompiledMessage, locale: string) {
  if (typeof english === 'string' && !/[{<]/.test(english)) return shown
  const message = typeof shown === 'string' ? compile(shown) : shown
  return (values: FormatValues<ReactNode>) => {
    const parts = format<ReactNode>(message, locale, values, { formatters })
    return Array.isArray(parts) ? createElement(Fragment, null, ...parts) : parts
  }
}

const formatters = {
  getDateTimeFormat: Intl.DateTimeFormat,
  getNumberFormat: Intl.NumberFormat,
  getPluralRules: (...given: ConstructorParameters<typeof Intl.PluralRules>) => new Intl.PluralRules(...given),
}
