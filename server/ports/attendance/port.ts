export interface AttendanceEvent {
  id: number
  /** Null where the provider has none. */
  name: string | null
  imageUrl: string | null
}

export interface AttendanceCollection {
  id: number
  title: string
  description: string | null
  logoImageUrl: string | null
  bannerImageUrl: string | null
  dropsCount: number
  year: number | null
}

/** A collection with the ids of its events. */
export type WholeCollection = AttendanceCollection & { dropIds: number[] }

/** Tokens of attendance. Throws UPSTREAM_ERROR for bad answers and TIMEOUT for late ones: no answer never means "none". */
export interface Attendance {
  /** Its tokens are made up here. */
  isScripted: boolean
  /** The distinct events whose tokens an address holds; `name.eth` means the address of that name. */
  eventsOf(address: string): Promise<AttendanceEvent[]>
  holds(address: string, eventId: number): Promise<boolean>
  /** Null without a provider of collections. */
  collections: AttendanceCollections | null
}

export interface AttendanceCollections {
  /** Newest first; `search` filters by words, null matches all. */
  list(page: { offset: number; limit: number; search: string | null }): Promise<AttendanceCollection[]>
  get(id: number): Promise<WholeCollection | null>
  /** Those that at least one of these events belongs to. */
  having(eventIds: readonly number[]): Promise<AttendanceCollection[]>
}
