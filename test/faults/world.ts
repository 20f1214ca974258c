import type { Asker } from './asker.ts'
import type { Person } from './client.ts'
import type { Cluster, DoorName, PlazaNode } from './cluster.ts'
import type { History } from './history.ts'
import type { Listeners } from './listeners.ts'
import type { Probe } from './probe.ts'
import type { Reader } from './reader.ts'
import type { Room, Sender } from './sender.ts'
import type { Step } from './steps.ts'

/** A running test, as faults see it. */
export interface World {
  cluster: Cluster
  history: History
  isLong: boolean
  /** Failures that do not show in the history. */
  breaches: string[]
  step: Step
  probe: Probe
  listeners: Listeners | null
  reconnectMilliseconds: number[]
  flood: { sender: Sender; readers: readonly Reader[]; dropped: number } | null
  /** Asks a model what it cannot answer. */
  provoker: Asker
  corrupted: { people: readonly Person[]; room: Room; flips: number } | null
  /** A person, one of their rooms, and a room they may not see. */
  stranger: { person: Person; room: Room; closed: Room }
}

export const doorsOf = ({ nodes }: Cluster, door: DoorName) => nodes.map(({ doors }) => doors[door].url)

export const linksOf = (nodes: readonly PlazaNode[], ...doors: readonly DoorName[]) =>
  nodes.flatMap((node) => doors.map((door) => node.doors[door]))
