import { median } from './load.ts'

/** The setting of a run, as named in its rows. */
export interface Setting {
  nodes: number
  store: string
}

export interface Row extends Setting {
  name: string
  room: number
  bare: number
  plaza: number
  ratio: number
  /** The same for a plain WebSocket server and Centrifugo, if they were measured. */
  ws?: number
  centrifugo?: number
}

/** A figure without a counterpart in bare servers, with its limit, if it has one. */
export interface Figure extends Setting {
  name: string
  value: number
  target?: number
}

/** Columns beside the two that are always present. */
const extras = { ws: 'plain ws', centrifugo: 'Centrifugo' } as const
type Extra = keyof typeof extras
const extraSides = Object.keys(extras) as Extra[]

export type Side = 'bare' | 'plaza' | Extra

interface Noted extends Setting, Record<Side, number[]> {
  name: string
  room: number
}

/** The measurements of all servers, side by side. */
export class Report {
  readonly #values = new Map<string, Noted>()
  readonly figures: Figure[] = []

  tell(figure: Figure): void {
    this.figures.push({ ...figure, value: rounded(figure.value) })
  }

  note({ nodes, store }: Setting, side: Side, room: number, name: string, value: number): void {
    const key = `${nodes} ${store} ${name} ${room}`
    const known = this.#values.get(key) ?? { nodes, store, name, room, bare: [], plaza: [], ws: [], centrifugo: [] }
    known[side].push(value)
    this.#values.set(key, known)
  }

  get rows(): Row[] {
    return [...this.#values.values()].map(({ name, nodes, store, room, ...values }) => {
      const [bare, plaza] = [rounded(median(values.bare)), rounded(median(values.plaza))]
      const measured = extraSides.filter((side) => values[side].length > 0)
      const others = Object.fromEntries(measured.map((side) => [side, rounded(median(values[side]))]))
      return { name, nodes, store, room, bare, plaza, ratio: bare === 0 ? 0 : rounded(plaza / bare), ...others }
    })
  }

  /** A Markdown table for each setting. */
  get text(): string {
    const settings = [...new Set(this.rows.map(({ nodes, store }) => `${nodes} ${store}`))]
    const compared = settings.map((setting) => this.#table(setting))
    return [...compared, ...(this.figures.length > 0 ? [this.#alone()] : [])].join('\n\n')
  }

  #alone(): string {
    const lines = this.figures.map(({ name, nodes, store, value, target }) => {
      const where = nodes === 1 ? store : `${nodes} nodes, ${store}`
      return [name, where, shown(value), shown(target)]
    })
    return `Of Plaza alone\n\n${aligned(['', 'store', 'measured', 'at most'], lines, 2)}`
  }

  #table(setting: string): string {
    const rows = this.rows.filter(({ nodes, store }) => `${nodes} ${store}` === setting)
    const [first] = rows
    const title = `${first?.nodes === 1 ? 'One node' : `${first?.nodes} nodes`}, ${first?.store}`
    const others = extraSides.filter((side) => rows.some((row) => row[side] !== undefined))
    const head = ['', 'room', 'bare Socket.IO', 'Plaza', 'ratio', ...others.map((side) => extras[side])]
    const lines = rows.map(({ name, room, bare, plaza, ratio, ...measured }) => [
      name,
      shown(room),
      shown(bare),
      shown(plaza),
      `${ratio} x`,
      ...others.map((side) => shown(measured[side])),
    ])
    return `${title}\n\n${aligned(head, lines)}`
  }
}

/** A table whose first columns are texts and whose others are numbers. */
function aligned(head: readonly string[], lines: readonly (readonly string[])[], words = 1): string {
  const rule = head.map((_, at) => (at < words ? '---' : '---:'))
  const all = [head, rule, ...lines]
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
  const padded = all.map((line) =>
    line.map((cell, at) => (at < words ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | '),
  )
  return padded.map((line) => `| ${line} |`).join('\n')
}

const shown = (value: number | undefined): string => value?.toLocaleString('en') ?? ''
const rounded = (value: number): number => Number(value.toPrecision(value >= 1_000 ? 4 : 3))
