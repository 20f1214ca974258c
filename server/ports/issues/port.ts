interface NewIssue {
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

/** Issues of a repository. Throws UPSTREAM_ERROR and TIMEOUT without an answer; UPSTREAM_ERROR has the status of `passedStatuses`. */
export interface Issues {
  create(issue: NewIssue): Promise<Issue>
  /** Newest first, `issuesOfAPage` a page; the first page is 1. */
  list(state: 'open' | 'closed' | 'all', page: number): Promise<Issue[]>
  /** Null for an unknown number. */
  read(number: number): Promise<Issue | null>
  comment(number: number, text: string): Promise<void>
  /** One that is closed stays so. */
  close(number: number): Promise<Issue>
}

/** Statuses that are passed on; a 401 would end the client's own session. */
export const passedStatuses: readonly number[] = [403, 404, 410, 422]
