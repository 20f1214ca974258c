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

/** A table in so many others lays out a page. */
const deepest = 4
/** So does one with a longer cell. */
const longestCell = 500
/** Cells over several columns or rows are repeated in each; these are a document's limits. */
const most = { repeated: 5_000, repeatedLength: 100 }

interface Cell {
  parts: Part[]
  columns: number
  rows: number
  hasTable: boolean
}

interface Table {
  /** The parts that surround it. */
  around: Part[]
  row: Cell[] | null
  cell: Cell | null
  /** Cells of rows before that reach into this one, by their column. */
  reaching: Map<number, { text: string; rows: number }>
}

/**
 * Writes tables and nested tables as grids: a line for each row, with bars between all cells. A row with code, long cells or
 * tables is page layout, and is written cell by cell.
 */
export function gridsInto(parts: Part[]) {
  const tables: Table[] = []
  let tooDeep = 0
  let repeated = 0

  const place = (): Part[] => {
    const table = tables.at(-1)
    return table?.cell?.parts ?? table?.around ?? parts
  }

  function endCell(table: Table): void {
    if (table.cell) table.row?.push(table.cell)
    table.cell = null
  }

  function endRow(table: Table): void {
    endCell(table)
    const { row, around } = table
    table.row = null
    if (row?.every(isOfGrid)) around.push('\n', rowOf(table, row), '\n')
    else for (const { parts: own } of row ?? []) around.push('\n', ...own, '\n')
  }

  function rowOf({ reaching }: Table, row: readonly Cell[]): string {
    const written: string[] = []
    const mayRepeat = () => {
      repeated += 1
      if (repeated > most.repeated) reaching.clear()
      return repeated <= most.repeated
    }
    const reachDown = () => {
      for (let above = reaching.get(written.length); above && mayRepeat(); above = reaching.get(written.length)) {
        above.rows -= 1
        if (above.rows === 0) reaching.delete(written.length)
        written.push(above.text)
      }
    }
    for (const { parts: own, columns, rows } of row) {
      reachDown()
      const text = plain(own)
      const again = text.length > most.repeatedLength ? '' : text
      for (let column = 0; column < columns && (column === 0 || mayRepeat()); column++) {
        if (rows > 1 && mayRepeat()) reaching.set(written.length, { text: again, rows: rows - 1 })
        written.push(column === 0 ? text : again)
      }
    }
    reachDown()
    for (const last = Math.max(-1, ...reaching.keys()); written.length <= last && mayRepeat(); reachDown())
      written.push('')
    return written.some(Boolean) ? written.join(' | ') : ''
  }

  function leave(table: Table): void {
    endRow(table)
    tables.pop()
    const outer = tables.at(-1)?.cell
    if (outer) outer.hasTable = true
  }

  return {
    add(part: Part): void {
      place().push(part)
    },
    /** True where the element is a row or a cell, which breaks lines by itself. */
    open(name: string, { colspan, rowspan }: Readonly<Record<string, string>>): boolean {
      if (name === 'table') {
        place().push('\n')
        if (tables.length >= deepest) tooDeep += 1
        else tables.push({ around: place(), row: null, cell: null, reaching: new Map() })
        return true
      }
      const table = tables.at(-1)
      if (!table || tooDeep > 0 || !inTables.has(name)) return false
      if (name === 'tr') endRow(table)
      else endCell(table)
      table.row ??= []
      if (name !== 'tr') table.cell = { parts: [], columns: spanOf(colspan), rows: spanOf(rowspan), hasTable: false }
      return true
    },
    close(name: string): boolean {
      const table = tables.at(-1)
      if (!table) return false
      if (name === 'table') {
        if (tooDeep > 0) tooDeep -= 1
        else leave(table)
        place().push('\n')
        return true
      }
      if (tooDeep > 0 || !inTables.has(name)) return false
      if (name === 'tr') endRow(table)
      else endCell(table)
      return true
    },
  }
}

const inTables = new Set(['tr', 'td', 'th'])

const isOfGrid = ({ parts, hasTable }: Cell): boolean =>
  !hasTable &&
  !parts.some((part) => typeof part !== 'string' && part.code.join('').trim().includes('\n')) &&
  plain(parts).length <= longestCell

const plain = (parts: readonly Part[]): string =>
  line(parts.map((part) => (typeof part === 'string' ? part : part.code.join(''))).join(''))

const spanOf = (given = '1'): number => Math.max(1, Math.min(1_000, Number.parseInt(given, 10) || 1))
