import { locale } from '../texts/language.ts'

/** What a widget is set to, field by field. A field of another kind than is asked for is taken for absent, as in what other versions stored. */
export interface Config {
  /** A text, or a number as text; empty where there is none. */
  text(field: string): string
  number(field: string): number | null
  list(field: string): readonly Config[]
  texts(field: string): readonly string[]
  numbers(field: string): readonly number[]
  group(field: string): Config
  counts(field: string): readonly (readonly [name: string, count: number])[]
  is(field: string): boolean
  /** Of what is shown unless somebody says no. */
  isOff(field: string): boolean
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

export function configOf(value: unknown): Config {
  const fields = fieldsOf(value)
  const listed = (field: string): readonly unknown[] => {
    const found = fields[field]
    return Array.isArray(found) ? found : []
  }
  const number = (field: string) => {
    const found = fields[field]
    return isNumber(found) ? found : null
  }
  return {
    text(field) {
      const found = fields[field]
      return typeof found === 'string' ? found.trim() : (number(field)?.toLocaleString(locale) ?? '')
    },
    number,
    list: (field) => listed(field).map(configOf),
    texts: (field) => listed(field).filter((one): one is string => typeof one === 'string' && one.trim() !== ''),
    numbers: (field) => listed(field).filter(isNumber),
    group: (field) => configOf(fields[field]),
    counts: (field) =>
      Object.entries(fieldsOf(fields[field])).filter((pair): pair is [string, number] => isNumber(pair[1])),
    is: (field) => fields[field] === true,
    isOff: (field) => fields[field] === false,
  }
}
