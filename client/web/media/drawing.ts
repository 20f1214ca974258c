import { mediaTexts as t } from '../texts/media.ts'
export const sides = [16, 32] as const
export type Side = (typeof sides)[number]

export const palette = [
  { name: 'black', value: '#1b1b1f' },
  { name: 'grey', value: '#8a8f98' },
  { name: 'white', value: '#ffffff' },
  { name: 'brown', value: '#8a5a33' },
  { name: 'red', value: '#d13b3b' },
  { name: 'orange', value: '#ec8b2f' },
  { name: 'yellow', value: '#f4d03f' },
  { name: 'green', value: '#3f9b4f' },
  { name: 'lightGreen', value: '#9bd36a' },
  { name: 'teal', value: '#2a9d8f' },
  { name: 'skyBlue', value: '#7cc6f2' },
  { name: 'blue', value: '#2f62c9' },
  { name: 'purple', value: '#7a4fc2' },
  { name: 'pink', value: '#ef8fb8' },
  { name: 'skin', value: '#f0c39a' },
  { name: 'darkSkin', value: '#9c6b45' },
] as const
const paper = '#ffffff'

/** The colours of the cells, row by row. */
export interface Drawing {
  side: Side
  cells: readonly string[]
}

export const blankOf = (side: Side): Drawing => ({ side, cells: Array.from({ length: side * side }, () => paper) })

export const isBlank = ({ cells }: Drawing): boolean => cells.every((cell) => cell === paper)

/** The drawing with a straight stroke from one cell to another. */
export function strokeIn(drawing: Drawing, from: number, to: number, colour: string): Drawing {
  const touched = new Set(lineBetween(from, to, drawing.side))
  return { ...drawing, cells: drawing.cells.map((old, cell) => (touched.has(cell) ? colour : old)) }
}

/** The cells between two that a fast pointer has passed. */
function lineBetween(from: number, to: number, side: Side): number[] {
  const [x0, y0, x1, y1] = [from % side, Math.floor(from / side), to % side, Math.floor(to / side)]
  const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0), 1)
  return Array.from({ length: steps + 1 }, (_, step) => {
    const x = Math.round(x0 + ((x1 - x0) * step) / steps)
    const y = Math.round(y0 + ((y1 - y0) * step) / steps)
    return y * side + x
  })
}

export function draw({ side, cells }: Drawing, canvas: HTMLCanvasElement): void {
  const context = canvas.getContext('2d')
  const length = canvas.width / side
  cells.forEach((colour, cell) => {
    if (!context) return
    context.fillStyle = colour
    context.fillRect((cell % side) * length, Math.floor(cell / side) * length, length, length)
  })
}

const sentPixels = 512

export function asPng(drawing: Drawing): Promise<Blob> {
  const canvas = document.createElement('canvas')
  canvas.width = sentPixels
  canvas.height = sentPixels
  draw(drawing, canvas)
  return new Promise((resolve, reject) =>
    canvas.toBlob((made) => (made ? resolve(made) : reject(new Error(t.problems.notSaved))), 'image/png'),
  )
}
