export type Range = readonly [low: number, high: number]

/** The faults and their frequencies; times in milliseconds. */
export interface Weather {
  nodes: number
  /** Whether nodes send hints. Without hints they poll the heads twice as often. */
  hints: boolean
  /** How long a new node may be cold: it hears no hints yet, and the database is late to answer it as often as this. */
  coldness: number
  lateWhenCold: number
  /** How likely an insert is late on its way to the database, and by how much. */
  late: number
  lateness: Range
  /** How likely an answer of the database is late, says that it failed though it did not, or never comes. */
  lateAnswer: number
  falseAnswer: number
  lostAnswer: number
  /** The probability that an answer to a person is lost, after which they repeat the request. */
  forgets: number
  forgetting: Range
  /** The time until a node next dies or pauses. */
  trouble: Range
  /** If it does not pause: the probability that it is stopped gracefully instead of killed. */
  kills: number
  stops: number
  pauses: readonly number[]
  /** The probability that a node pauses right after an error of the database. */
  dozes: number
  /** The probability that only some of many records are written. */
  tornRecords: number
  /** How long it is until a primary is next cut off from its majority, and how long some nodes stay on its side. */
  splits: Range | null
  splitting: Range
  /** How long it is until the clock of a node next jumps by ten seconds, and how long until it jumps back. */
  steps: Range | null
  stepping: Range
  /** How long it is until a node of another version next appends a row that these do not know. */
  strangers: Range | null
}

/** What people do. */
export interface Work {
  /** How long everybody waits at most before the next message, room by room. */
  rooms: Readonly<Record<string, number>>
  /** Sends at once, from one person in the first room. */
  burst: number
  bursts: Range
  edits: number
  /** How long readers stay away between two visits. */
  away: Range
  moderators: number
  /** The acts of moderators; an act that is listed more often happens more often. */
  deeds: readonly string[]
  moderation: Range
  lasting: Range
  /** The probability that an act is requested twice at the same moment, on one node. */
  twice: number
  /** The probabilities that a text cannot be encoded, and that a judgement throws its refusal. */
  poison: number
  throws: number
}

export type Profile = Weather & Work

const everyday: Profile = {
  nodes: 3,
  hints: true,
  coldness: 50,
  lateWhenCold: 0.1,
  late: 0.01,
  lateness: [20, 500],
  lateAnswer: 0.01,
  falseAnswer: 0.005,
  lostAnswer: 0.003,
  forgets: 0.02,
  forgetting: [100, 3_000],
  trouble: [500, 2_500],
  kills: 0.4,
  stops: 0.1,
  pauses: [300, 1_500, 6_500],
  dozes: 0,
  tornRecords: 0.005,
  splits: null,
  splitting: [500, 4_000],
  steps: null,
  stepping: [1_000, 20_000],
  strangers: null,
  rooms: { busy: 40, quiet: 800 },
  burst: 12,
  bursts: [300, 900],
  edits: 0.15,
  away: [1, 60],
  moderators: 2,
  deeds: ['ban', 'suspend', 'suspend', 'leave', 'slow'],
  moderation: [50, 250],
  lasting: [1, 100],
  twice: 0.1,
  poison: 0,
  throws: 0.2,
}

/** Profiles, each with a higher frequency of some faults. */
export const profiles = {
  everyday,
  /** Many write to one room from every node, and twice at once. */
  crowded: { ...everyday, rooms: { busy: 15, other: 15 }, edits: 0.5, twice: 0.5, burst: 4 },
  /** Answers get lost on the way to people, who come back with their key after hundreds of rows. */
  forgetful: {
    ...everyday,
    forgets: 0.05,
    forgetting: [800, 2_000],
    rooms: { busy: 100, quiet: 800 },
    burst: 60,
    bursts: [50, 200],
    away: [500, 2_000],
    lasting: [200, 900],
    moderation: [10, 60],
    deeds: ['leave', 'ban', 'slow'],
  },
  /** The database is slow to take what is sent and to say so, in rooms where nobody else is quicker. */
  stormy: {
    ...everyday,
    late: 0.2,
    lateAnswer: 0.05,
    falseAnswer: 0.05,
    lostAnswer: 0.03,
    trouble: [2_000, 8_000],
    rooms: { one: 1_500, two: 1_500, three: 1_500, four: 1_500 },
    burst: 1,
    edits: 0,
    away: [500, 3_000],
    deeds: ['suspend', 'suspend', 'suspend', 'ban', 'slow'],
    moderators: 3,
    moderation: [1, 100],
    lasting: [100, 600],
  },
  /** Nodes come and go all the time, and are slow at first. */
  restless: {
    ...everyday,
    lateness: [20, 140],
    trouble: [50, 300],
    coldness: 800,
    lateWhenCold: 0.5,
    kills: 0,
    stops: 1,
    rooms: { one: 300, two: 300 },
    burst: 1,
    edits: 0,
    away: [2_000, 6_000],
    deeds: ['suspend'],
    moderation: [1, 20],
    lasting: [300, 600],
  },
  /** Nodes pause for longer than others wait for them, in rooms with few acts. */
  sleepy: {
    ...everyday,
    trouble: [4_000, 9_000],
    kills: 0,
    stops: 0,
    pauses: [12_000, 14_000],
    rooms: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`room${index}`, 50_000])),
    burst: 1,
    bursts: [2_000, 6_000],
    away: [5_000, 30_000],
    deeds: ['suspend', 'suspend', 'suspend', 'ban'],
    moderation: [50, 400],
    lasting: [1_000, 5_000],
  },
  /** Nodes pause right after an error of the database, in rooms where no other node takes the seq during the pause. */
  dozing: {
    ...everyday,
    falseAnswer: 0.1,
    forgets: 0.3,
    forgetting: [15_000, 30_000],
    trouble: [10_000, 20_000],
    kills: 0.2,
    stops: 0.2,
    pauses: [8_000, 12_000],
    dozes: 0.5,
    rooms: Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`room${index}`, 30_000])),
    burst: 1,
    bursts: [2_000, 6_000],
    edits: 0,
    away: [5_000, 30_000],
    deeds: ['suspend', 'suspend', 'suspend', 'ban'],
    moderation: [50, 400],
    lasting: [1_000, 5_000],
  },
  /** Primaries lose their majority, and their unreplicated writes are rolled back. */
  failover: { ...everyday, splits: [300, 1_500], trouble: [3_000, 9_000], lostAnswer: 0.01 },
  /** Clocks jump forward and back, while nodes come, go and stand still. */
  shifting: {
    ...everyday,
    steps: [200, 1_500],
    lateAnswer: 0.05,
    falseAnswer: 0.03,
    rooms: { one: 400, two: 400, three: 400 },
    burst: 2,
    deeds: ['suspend', 'suspend', 'ban', 'slow'],
    lasting: [100, 2_000],
  },
  /** People send what cannot be encoded, and nodes of another version write what these do not know. */
  mixed: { ...everyday, poison: 0.05, strangers: [50, 400], tornRecords: 0.1, throws: 0.5 },
} satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles

export const profileNames = Object.keys(profiles) as ProfileName[]
export const isProfile = (name: string): name is ProfileName => name in profiles

/** Seeds cycle through all profiles, each with three to five nodes, every other one without hints. */
export function profileOf(seed: number, chosen?: ProfileName): { name: ProfileName; profile: Profile } {
  const name = chosen ?? profileNames[seed % profileNames.length] ?? 'everyday'
  const round = chosen ? seed : Math.floor(seed / profileNames.length)
  return { name, profile: { ...profiles[name], nodes: 3 + (round % 3), hints: round % 2 === 0 } }
}
