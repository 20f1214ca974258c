import type { Act, Outcome, RoomKey, Row } from '#server/log/types'
import { projection } from '#test/log/chat'
import type { Cluster } from './cluster.ts'

export interface Answer {
  room: RoomKey
  act: Act<'already'>
  began: number
  ended: number
  outcome: Outcome<'already'> | null
  code: string | null
  /** No try before this one is still under way. */
  isSure: boolean
}

/** What everybody was told, and what could be seen to be wrong at that moment. */
export class History {
  readonly answers: Answer[] = []
  readonly faults: string[] = []
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  answered(answer: Answer): void {
    this.answers.push(answer)
    if (answer.outcome?.row) this.#mustBeRecorded(answer.outcome.row)
  }

  #mustBeRecorded(row: Row): void {
    for (const { key } of projection.changes(row)) {
      if (key.startsWith('last:')) continue
      const record = this.#cluster.kept.records.get(`${row.room} ${key}`)
      if (!record || record.seq < row.seq) this.faults.push('acknowledged before its record was written')
    }
  }
}
