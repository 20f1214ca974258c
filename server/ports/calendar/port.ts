/** A time in which somebody is not free, and nothing else of what they have planned; in milliseconds since 1970. */
export interface Busy {
  start: number
  end: number
}

/** Calendars that people keep elsewhere. */
export interface Calendars {
  /**
   * When somebody is busy between two instants, in any order; null where they have connected no calendar.
   * Throws UPSTREAM_ERROR or TIMEOUT where their calendar gives no answer.
   */
  busy(account: string, between: Busy, signal: AbortSignal): Promise<readonly Busy[] | null>
}
