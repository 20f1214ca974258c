import { median } from './load.ts'

export interface Row {
  name: string
  nodes: number
  store: string
  room: number
  bare: number
  plaza: number
  ratio: number
}

type Name = 'bare' | 'plaza'

/** What was measured, of both servers side by side. */
export class Report {
  readonly #values = new Map<string, { name: string; room: number; bare: number[]; plaza: number[] }>()

  note(server: Name, room: number, name: string, value: number): void {
    const key = `${name} ${room}`
    const known = this.#values.get(key) ?? { name, room, bare: [], plaza: [] }
    known[server].push(value)
    this.#values.set(key, known)
  }

  get rows(): Row[] {
    return [...this.#values.values()].map(({ name, room, ...values }) => {
      const bare = rounded(median(values.bare))
      const plaza = rounded(median(values.plaza))
      return { name, nodes: 1, store: 'embedded', room, bare, plaza, ratio: bare === 0 ? 0 : rounded(plaza / bare) }
    })
  }

  print(): void {
    const lines = this.rows.map(({ name, room, bare, plaza, ratio }) => [name, room, bare, plaza, `${ratio} x`])
    const all = [['', 'room', 'bare Socket.IO', 'Plaza', 'ratio'], ...lines].map((line) =>
      line.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)),
    )
    const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
    for (const line of all)
      console.log(
        line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
      )
  }
}

const rounded = (value: number): number => Number(value.toPrecision(value >= 1_000 ? 4 : 3))
