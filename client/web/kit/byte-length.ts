import { locale } from '../texts/language.ts'

const units = [
  ['megabyte', 1_024 * 1_024, 1],
  ['kilobyte', 1_024, 0],
] as const

/** A length in bytes, in the largest unit that leaves a whole number. */
export function lengthInBytes(bytes: number): string {
  const [unit, size, maximumFractionDigits] = units.find(([, least]) => bytes >= least) ?? (['byte', 1, 0] as const)
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  const format = { style: 'unit', unit, unitDisplay, maximumFractionDigits, useGrouping: false } as const
  return new Intl.NumberFormat(locale, format).format(bytes / size)
}
