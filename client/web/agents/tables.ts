export type Side = 'start' | 'center' | 'end'

/** A table as it is written between bars; each row has a cell for each column. */
export interface Table {
  sides: readonly Side[]
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

/** What is larger is shown as it is written. */
const mostColumns = 20
const mostRows = 200
const rule = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/

export const isTableRow = (line: string): boolean => /^ {0,3}\S/.test(line) && line.includes('|')

/** Does a table begin with this line: is the next one a rule of as many columns? */
export function isTableAt(lines: readonly string[], at: number): boolean {
  const [head = '', below = ''] = lines.slice(at, at + 2)
  return isTableRow(head) && below.includes('|') && rule.test(below) && cellsOf(head).length === cellsOf(below).length
}

export function tableOf(text: string): Table | null {
  const [head = '', below = '', ...body] = text.split('\n')
  if (!isTableAt([head, below], 0)) return null
  const columns = cellsOf(head)
  if (columns.length > mostColumns || body.length > mostRows) return null
  return {
    sides: cellsOf(below).map(sideOf),
    head: columns,
    rows: body.map((line) => {
      const cells = cellsOf(line)
      return columns.map((_, at) => cells[at] ?? '')
    }),
  }
}

const sideOf = (cell: string): Side => (cell.endsWith(':') ? (cell.startsWith(':') ? 'center' : 'end') : 'start')

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, '|'))
