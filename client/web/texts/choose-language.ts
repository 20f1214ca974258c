import type { Hours, Language } from './language.ts'

/** Modules keep texts as they load, so another language begins with a reload of the same address. */
export const chooseLanguage = (next: Language | null): void => keep('plaza.language', next)

/** Formats are made once, so another clock begins with a reload too. */
export const chooseHours = (next: Hours | null): void => keep('plaza.hours', next)

function keep(key: string, next: string | null): void {
  if (next) localStorage.setItem(key, next)
  else localStorage.removeItem(key)
  location.reload()
}
