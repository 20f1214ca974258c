import { normalized } from '#shared/kit/normal'

const letters = ['L', 'M', 'Nl']
const categories = [...letters, 'Nd', 'Pc', 'No', 'Pd', 'Ps', 'Pe', 'Pi', 'Pf', 'Po', 'S', 'Z', 'C']
/** Classes that the engine limits to ASCII, for every script; `word` is the class of `\b`. */
const known: Readonly<Record<string, readonly string[]>> = {
  alpha: letters,
  alnum: [...letters, 'Nd'],
  word: [...letters, 'Nd', 'Pc'],
}

const itemsOf = (name: string, isOther: boolean): string => {
  const meant = known[name] ?? []
  return (isOther ? categories.filter((one) => !meant.includes(one)) : meant).map((one) => `\\p{${one}}`).join('')
}

const parts = /\\Q.*?(?:\\E|$)|\\.|\[:(\^?)(\w+):\]|\[\^?\]?|\]/gsu

/**
 * The engine's source of a pattern: composed (NFC) as texts are. `\w`, `\W` and classes such as `[[:alpha:]]` mean
 * letters of every script.
 */
export function enginesSource(source: string): string {
  let isInClass = false
  return normalized(source, 'NFC').replace(parts, (part, not: string | undefined, name: string | undefined) => {
    if (name !== undefined) return isInClass && name in known ? itemsOf(name, not === '^') : part
    if (part === '\\w' || part === '\\W') {
      const items = itemsOf('word', part === '\\W')
      return isInClass ? items : `[${items}]`
    }
    if (part.startsWith('[')) isInClass = true
    else if (part === ']') isInClass = false
    return part
  })
}
