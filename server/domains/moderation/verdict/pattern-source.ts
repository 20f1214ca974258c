import { normalized } from '#shared/kit/normal'

const letters = ['L', 'M', 'Nl']
const categories = [...letters, 'Nd', 'Pc', 'No', 'Pd', 'Ps', 'Pe', 'Pi', 'Pf', 'Po', 'S', 'Z', 'C']
/** What the engine knows among ASCII alone, in every script; a word is what `\b` takes for one. */
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
 * The source of a pattern as it is given to the engine: composed (NFC), as texts are, and with `\w`, `\W` and classes such as
 * `[[:alpha:]]` meaning the letters of every script.
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
