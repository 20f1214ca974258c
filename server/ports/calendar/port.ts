/** A busy time without details, in milliseconds since 1970. */
export interface BusyTime {
  start: number
  end: number
}

/** The authorization request (RFC 6749, RFC 7636). */
interface AuthorizationRequest {
  /** Returned unchanged. */
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
  /** The address of the provider's account, if given. */
  email: string | null
}

/** A calendar, and what opens it now. */
export interface OpenedCalendar {
  accessToken: string
  calendarId: string
}

export interface CalendarEvent extends BusyTime {
  /** The same at each attempt: 5 to 64 characters of `0-9a-f`. */
  id: string
  title: string
  description: string
}

/** Thrown after the provider ended or reduced access, which its owner alone can change. */
export class NoAccess extends Error {
  override readonly name = 'NoAccess'
}

/** Calendars at a provider. All methods throw UPSTREAM_ERROR or TIMEOUT without an answer, and NoAccess after access ended. */
export interface Calendars {
  readonly provider: 'google'
  /** The URL of the consent page; no request is made. */
  askAt(asking: AuthorizationRequest): string
  /** Exchanges a code, once. Throws NoAccess if it is invalid, or the grant is partial. */
  exchange(code: string, verifier: string, redirectUri: string): Promise<Grant>
  refresh(refreshToken: string): Promise<Access>
  /** Gives back what was allowed. */
  revoke(refreshToken: string): Promise<void>
  /** Busy times between two instants, in any order. */
  busy(calendar: OpenedCalendar, between: BusyTime, signal: AbortSignal): Promise<readonly BusyTime[]>
  /** Inserts an event without invitations; an existing id stays unchanged. */
  insert(calendar: OpenedCalendar, event: CalendarEvent): Promise<void>
  /** Takes an event out; none under this id is no error. */
  remove(calendar: OpenedCalendar, id: string): Promise<void>
}
