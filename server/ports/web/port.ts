/** What is asked of a URL that a person, or what a person named, has given. */
export interface WebRequest {
  /** By default POST with a body, and GET without one. A redirect of the other three is not followed: it is the answer. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: string | Uint8Array
  /** Left out as soon as a redirect leads to another origin: keys may be among them. */
  headers?: Readonly<Record<string, string>>
  /** At most, and by default, 2 MB of what the body is when it is unpacked. */
  maxBytes?: number
  /** At most, and by default, 10 s for everything. */
  timeoutMilliseconds?: number
  /** What counts is the status alone: a redirect is not followed, and nothing of the body is read. */
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

/** Asks the public web by HTTPS, and nothing else, wherever names and redirects lead. */
export interface Web {
  /** The URL as it will be asked, without fragment; throws INVALID_PARAMETER where it may not be asked at all. */
  check(url: string): URL
  /**
   * Whether a URL that is only shown may be: not one of this machine or a private network, as far as its host tells, and as plain as one
   * that is asked: without user, another port, backslashes or white space.
   */
  isPublic(url: string): boolean
  /**
   * Throws INVALID_PARAMETER as `check` does, TIMEOUT, and UPSTREAM_ERROR where there is no answer, it is too long, or it would come from
   * an address that is not public: the errors say no more. An aborted signal throws its reason.
   */
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
