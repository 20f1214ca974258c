/** A time in which somebody is not free, and nothing else of what they have planned; in milliseconds since 1970. */
export interface Busy {
  start: number
  end: number
}

/** How somebody is sent to the provider to allow what we do (RFC 6749, RFC 7636). */
export interface Asking {
  /** What comes back with them, as it is. */
  state: string
  /** Of the verifier: SHA-256, in base64url. */
  challenge: string
  /** Where they come back to. */
  redirectUri: string
}

export interface Access {
  accessToken: string
  /** How long it is good. */
  seconds: number
}

/** What somebody has allowed. */
export interface Grant extends Access {
  /** By which access is had again, until they take it back. */
  refreshToken: string
  calendarId: string
  /** Of their account at the provider, where it says so. */
  email: string | null
}

/** A calendar, and what opens it now. */
export interface Opened {
  accessToken: string
  calendarId: string
}

export interface CalendarEvent extends Busy {
  /** The same at each attempt: 5 to 64 characters of `0-9a-f`. */
  id: string
  title: string
  description: string
}

/** Thrown where the provider gives no access any more, or not all that we ask for: only its owner can change that. */
export class NoAccess extends Error {
  override readonly name = 'NoAccess'
}

/**
 * Calendars that people keep elsewhere, at one provider. Each method throws UPSTREAM_ERROR or TIMEOUT where the provider gives no
 * answer, and NoAccess where it says that access is over.
 */
export interface Calendars {
  readonly provider: 'google'
  /** Where somebody is asked; nothing is asked of the provider. */
  askAt(asking: Asking): string
  /** What a code is good for, once. Throws NoAccess where it is good for nothing, or not all was allowed. */
  exchange(code: string, verifier: string, redirectUri: string): Promise<Grant>
  refresh(refreshToken: string): Promise<Access>
  /** Gives back what was allowed. */
  revoke(refreshToken: string): Promise<void>
  /** When somebody is busy between two instants, in any order. */
  busy(calendar: Opened, between: Busy, signal: AbortSignal): Promise<readonly Busy[]>
  /** Writes an event, of which nobody is told; one that is there under its id stays. */
  insert(calendar: Opened, event: CalendarEvent): Promise<void>
  /** Takes an event out; none under this id is no error. */
  remove(calendar: Opened, id: string): Promise<void>
}
