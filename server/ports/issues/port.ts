export interface NewIssue {
  title: string
  body: string
  labels: readonly string[]
}

export interface Issue {
  /** Of the host; people know it by its number. */
  id: number
  number: number
  url: string
  title: string
  state: 'open' | 'closed'
  labels: string[]
  /** ISO 8601. */
  created_at: string
}

export const issuesOfAPage = 30

/**
 * The issues of one repository at a code host. Throws UPSTREAM_ERROR and TIMEOUT where the host gives no answer, and UPSTREAM_ERROR with the
 * host's status where it refuses by one of `passedStatuses`.
 */
export interface Issues {
  create(issue: NewIssue): Promise<Issue>
  /** Newest first, `issuesOfAPage` a page; the first page is 1. */
  list(state: 'open' | 'closed' | 'all', page: number): Promise<Issue[]>
  /** Null where there is none of this number. */
  read(number: number): Promise<Issue | null>
  comment(number: number, text: string): Promise<void>
  /** One that is closed stays so. */
  close(number: number): Promise<Issue>
}

/** The statuses of refusals that are told on; whoever hears 401 would take their own session for ended. */
export const passedStatuses: readonly number[] = [403, 404, 410, 422]
