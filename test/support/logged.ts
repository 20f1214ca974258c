import { inspect } from 'node:util'

/** A logger that adds each line to a list, with all that its fields hold. */
export function loggerInto(lines: string[]) {
  const remember = (fields: object, message: string) =>
    void lines.push(`${message} ${inspect(fields, { depth: 12, showHidden: true, maxStringLength: null })}`)
  return { info: remember, warn: remember, error: remember }
}
