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

/**
 * Who holds tokens of attendance. Everything throws UPSTREAM_ERROR where the provider fails or answers something else than
 * it should, and TIMEOUT where it is late: what is not an answer is never read as "none".
 */
export interface Attendance {
  /** Its tokens are made up here. */
  isScripted: boolean
  /** The events that an address holds a token of, each once; `name.eth` stands for the address that has this name. */
  eventsOf(address: string): Promise<AttendanceEvent[]>
  holds(address: string, eventId: number): Promise<boolean>
  /** Null where the provider of collections is not configured. */
  collections: AttendanceCollections | null
}

export interface AttendanceCollections {
  /** Newest first; `search` is what words of theirs must match, null for all. */
  list(page: { offset: number; limit: number; search: string | null }): Promise<AttendanceCollection[]>
  get(id: number): Promise<WholeCollection | null>
  /** Those that at least one of these events belongs to. */
  having(eventIds: readonly number[]): Promise<AttendanceCollection[]>
}
