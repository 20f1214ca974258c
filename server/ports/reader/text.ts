/** A piece of a document: text, in which spaces mean nothing, or code, which is as it is written. */
export type Part = string | { code: readonly string[] }

/** A line for each block of text, and the lines of code. */
export function textOf(parts: readonly Part[]): string {
  const said: string[] = []
  let text: string[] = []
  const end = () => {
    said.push(lines(text.join('')))
    text = []
  }
  for (const part of parts)
    if (typeof part === 'string') text.push(part)
    else {
      end()
      said.push(codeOf(part.code))
    }
  end()
  return said.filter(Boolean).join('\n')
}

/** Without empty lines before and behind it, and spaces at the ends of lines. */
function codeOf(code: readonly string[]): string {
  const rows = code
    .join('')
    .split(/\r?\n/)
    .map((row) => row.trimEnd())
  const from = rows.findIndex((row) => row !== '')
  return from < 0 ? '' : rows.slice(from, rows.findLastIndex((row) => row !== '') + 1).join('\n')
}

/** Without lines that are empty, and with single spaces. */
export const lines = (text: string): string => text.split('\n').map(line).filter(Boolean).join('\n')

export const line = (text: string): string => text.replace(/\s+/g, ' ').trim()
