/** A request to a URL that a person, or their document, has named. */
export interface WebRequest {
  /** By default POST with a body, and GET without one. A redirect of the other three is not followed: it is the answer. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: string | Uint8Array
  /** Left out as soon as a redirect leads to another origin: keys may be among them. */
  headers?: Readonly<Record<string, string>>
  /** The limit of the unpacked body: at most, and by default, 2 MB. */
  maxBytes?: number
  /** At most, and by default, 10 s for everything. */
  timeoutMilliseconds?: number
  /** Reads the status alone: no redirects, no body. */
  onlyStatus?: true
  signal?: AbortSignal
}

export interface WebAnswer {
  status: number
  /** Where the answer came from, after redirects. */
  url: string
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

/** Requests to the public web by HTTPS alone, wherever names and redirects lead. */
export interface Web {
  /** The URL as requested, without fragment. Throws INVALID_PARAMETER for a forbidden one. */
  check(url: string): URL
  /** Whether a URL may be shown: public by its host, and without user, port, backslashes or white space. */
  isPublic(url: string): boolean
  /** Throws INVALID_PARAMETER, TIMEOUT, the reason of an abort, and UPSTREAM_ERROR without details for all other failures. */
  ask(url: string, request?: WebRequest): Promise<WebAnswer>
}

/** The text of an answer, by the charset that it names. */
export function textOf({ headers, body }: Pick<WebAnswer, 'headers' | 'body'>): string {
  const charset = /charset=["']?([\w-]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}
