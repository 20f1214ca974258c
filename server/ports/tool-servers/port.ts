export interface ToolServer {
  url: string
  /** Keys are among them: they are told to this server alone. */
  headers: Readonly<Record<string, string>>
  /** Whose it is: a session is shared by nobody else, wherever others name the same server. */
  of: string
}

/** What a server says of a tool; none of it has been checked. */
export interface OfferedTool {
  name: string
  description: string
  /** Null where it is malformed: it is listed so that its owner learns of it, and cannot be called. */
  inputSchema: Readonly<Record<string, unknown>> | null
}

export interface ToolResult {
  text: string
  /** The tool itself says that it could not do it. */
  isError: boolean
}

/** How it asks: the guarded web, or what stands in its place. */
export type Ask = (
  url: string,
  request: {
    body: string
    headers: Readonly<Record<string, string>>
    maxBytes: number
    timeoutMilliseconds: number
    signal: AbortSignal
  },
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Uint8Array }>

/**
 * Servers that offer tools by JSON-RPC. Throws UPSTREAM_ERROR and TIMEOUT, INVALID_PARAMETER where the URL may not be asked,
 * and the reason of a signal that is aborted.
 */
export interface ToolServers {
  list(server: ToolServer, signal: AbortSignal): Promise<readonly OfferedTool[]>
  call(
    server: ToolServer,
    name: string,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolResult>
}

/** Connections are kept for as long as what this returns. */
export type OpenToolServers = (ask: Ask) => ToolServers
