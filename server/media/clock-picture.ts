import type { Cell } from './cells.ts'

/** Rows of three squares, from the top; a digit is five of them. */
const digits = ['75557', '26227', '71747', '71717', '55711', '74717', '74757', '71111', '75757', '75717']
const size = { width: 18, height: 12 }
const paper: Cell = [40, 120, 136]
const ink: Cell = [220, 128, 128]
const accent: Cell = [150, 90, 190]
const off: Cell = [16, 128, 128]
const bitsInRow = 16

/** Minutes and seconds, a square that walks, and below them the time in milliseconds as 48 squares, dark or light. */
export function clockPicture(columns: number, rows: number, milliseconds: number): Cell[] {
  const cells = Array.from<Cell>({ length: columns * rows }).fill(paper)
  const [left, top] = [Math.floor((columns - size.width) / 2), Math.floor((rows - size.height) / 2)]
  const paint = (column: number, row: number, cell: Cell): void => {
    const [x, y] = [left + column, top + row]
    if (x >= 0 && x < columns && y >= 0 && y < rows) cells[y * columns + x] = cell
  }
  const seconds = Math.floor(milliseconds / 1000)
  const shown = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0')).join('')
  for (const [place, digit] of [...shown].entries()) {
    const from = place * 4 + (place > 1 ? 2 : 0)
    for (const [row, pattern] of [...(digits[Number(digit)] ?? '')].entries())
      for (let bit = 0; bit < 3; bit++) if ((Number(pattern) >> (2 - bit)) & 1) paint(from + bit, row, ink)
  }
  for (const row of [1, 3]) paint(8, row, ink)
  paint(Math.floor((milliseconds % 1000) / (1000 / size.width)), 6, accent)
  for (const [index, bit] of [...milliseconds.toString(2).padStart(48, '0')].entries())
    paint(1 + (index % bitsInRow), 8 + Math.floor(index / bitsInRow), bit === '1' ? ink : off)
  return cells
}
