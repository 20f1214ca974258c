export type Range = readonly [low: number, high: number]

/** What goes wrong, and how often; the times in milliseconds. */
export interface Weather {
  nodes: number
  /** Are there hints at all? Without them nodes look at the heads twice as often. */
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
  /** How likely a person never hears an answer and asks again later. */
  forgets: number
  forgetting: Range
  /** How long it is until a node next dies or stands still. */
  trouble: Range
  /** Of those that do not stand still: how likely it is stopped with care instead. */
  kills: number
  stops: number
  pauses: readonly number[]
  /** How likely a node stands still just when the database has failed it. */
  dozes: number
  /** How likely of many records only some are written. */
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
  /** What moderators do, the more often named the more often. */
  deeds: readonly string[]
  moderation: Range
  lasting: Range
  /** How likely a deed is done twice at the same moment, on one node. */
  twice: number
  /** How likely what is said cannot be encoded, and how likely a judgement throws its refusal. */
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

/** Times and places in which one thing or another goes wrong more often than elsewhere. */
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
  /** Nodes stand still for longer than others wait for them, in rooms where little happens. */
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
  /** Nodes stand still just when the database has failed them, in rooms where nobody else takes the place meanwhile. */
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
  /** Primaries lose their majority, and what they took alone is rolled back. */
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

/** Seeds take turns through every kind of weather, each on three to five nodes, every other one without hints. */
export function profileOf(seed: number, chosen?: ProfileName): { name: ProfileName; profile: Profile } {
  const name = chosen ?? profileNames[seed % profileNames.length] ?? 'everyday'
  const round = chosen ? seed : Math.floor(seed / profileNames.length)
  return { name, profile: { ...profiles[name], nodes: 3 + (round % 3), hints: round % 2 === 0 } }
}
