/** The languages of the page, each by its own name. */
export const languages = { en: 'English', de: 'Deutsch', es: 'Español', ar: 'العربية' } as const
export type Language = keyof typeof languages

/** Translations by the names of their catalogs. */
type Translations = Readonly<Record<string, object>>

/** English is in the catalogs. Each other language is one file. */
const loaders: Partial<Record<Language, () => Promise<Translations>>> = {
  de: async () => (await import('./german/index.ts')).germanTexts,
  es: async () => (await import('./spanish/index.ts')).spanishTexts,
  ar: async () => (await import('./arabic/index.ts')).arabicTexts,
}

const isPage = typeof document !== 'undefined'
const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name)
const languageOf = (tag: string) => tag.split('-', 1)[0] ?? ''

/** The language that was chosen on this device; null if it is that of the browser. */
export function chosenLanguage(): Language | null {
  const kept = (isPage && localStorage.getItem('plaza.language')) || ''
  return isLanguage(kept) ? kept : null
}

/** A clock of twelve hours or of 24. */
export type Hours = 'h12' | 'h23'

/** The clock that was chosen on this device; null if it is that of the region. */
export function chosenHours(): Hours | null {
  const kept = isPage ? localStorage.getItem('plaza.hours') : null
  return kept === 'h12' || kept === 'h23' ? kept : null
}

/** What the browser asks for, without tags that no date can have, such as `en-US@posix`. */
const asked = (isPage ? navigator.languages : []).filter((tag) => isLanguage(languageOf(tag)) && /^[\w-]+$/.test(tag))

const wanted: Language = chosenLanguage() ?? (languageOf(asked[0] ?? 'en') as Language)
/** For numbers and dates: the language of the page, in the region of the browser, with the chosen clock. */
function localeOf(language: Language): string {
  const tag = asked.find((one) => languageOf(one) === language) ?? language
  const hourCycle = chosenHours()
  return new Intl.Locale(tag, { numberingSystem: 'latn', ...(hourCycle && { hourCycle }) }).toString()
}

export let direction: 'ltr' | 'rtl' = 'ltr'
export let locale: string = localeOf('en')
/** Null until they are loaded. */
let translations: Translations | null = loaders[wanted] ? null : {}

/** The first screen waits for the one file of its language. Without that file, it is in English. */
export async function loadLanguage(): Promise<void> {
  const loaded = await loaders[wanted]?.().catch(() => null)
  translations = loaded ?? {}
  const language = loaded ? wanted : 'en'
  direction = language === 'ar' ? 'rtl' : 'ltr'
  locale = localeOf(language)
  Object.assign(document.documentElement, { lang: language, dir: direction })
}

/** A text that is read before its translation is loaded would stay in English. */
export function translationOf(catalog: string): object {
  if (!translations) throw new Error(`Texts of “${catalog}” are read before their language is loaded.`)
  return translations[catalog] ?? {}
}
