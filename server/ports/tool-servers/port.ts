export interface ToolServer {
  url: string
  /** They include keys, for this server alone. */
  headers: Readonly<Record<string, string>>
  /** The owner: sessions are never shared between owners. */
  of: string
}

/** A tool as its server describes it, unchecked. */
export interface OfferedTool {
  name: string
  description: string
  /** Null if malformed: listed for its owner, but not callable. */
  inputSchema: Readonly<Record<string, unknown>> | null
}

export interface ToolResult {
  text: string
  /** The tool reports its own failure. */
  isError: boolean
}

/** The fetcher: the guarded web, or a stand-in. */
export type Fetcher = (
  url: string,
  request: {
    body: string
    headers: Readonly<Record<string, string>>
    maxBytes: number
    timeoutMilliseconds: number
    signal: AbortSignal
  },
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Uint8Array }>

/** Tool servers by JSON-RPC. Throws UPSTREAM_ERROR, TIMEOUT, INVALID_PARAMETER for a forbidden URL, and the reason of an abort. */
export interface ToolServers {
  list(server: ToolServer, signal: AbortSignal): Promise<readonly OfferedTool[]>
  call(
    server: ToolServer,
    name: string,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolResult>
}

/** Connections live as long as the returned value. */
export type OpenToolServers = (ask: Fetcher) => ToolServers
