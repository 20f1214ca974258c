/** Data of the platform of this server, by GraphQL. */
export interface PlatformData {
  /** The result of a query, as JSON. Throws UPSTREAM_ERROR, TIMEOUT, and the reason of an abort. */
  query(document: string, variables: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string>
}
