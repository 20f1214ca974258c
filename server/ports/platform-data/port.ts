/** The data of the platform that this server belongs to, asked by GraphQL. */
export interface PlatformData {
  /** What the document asks for, as JSON. Throws UPSTREAM_ERROR and TIMEOUT, and the reason of an aborted signal. */
  query(document: string, variables: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string>
}
