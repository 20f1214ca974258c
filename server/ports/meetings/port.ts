/** Whom a token lets into which room. */
export interface Pass {
  /** The id of the room at the provider. */
  room: string
  /** The person who enters: an account, or a guest of this visit. */
  identity: string
  /** As the others are shown it. */
  name: string
  isHost: boolean
}

/** Audio and video of meetings. Throws UPSTREAM_ERROR or TIMEOUT without an answer of the provider. */
export interface Meetings {
  /** The URL for clients' tokens; null if they meet over the sockets of this server. */
  readonly url: string | null
  /** A token by which one person enters within ten minutes. The first makes the room, with so many places. */
  admit(pass: Pass, most: number): Promise<string>
  /** The person of a token for meetings over this server's sockets; null for an invalid one. */
  read(token: string): Promise<Pass | null>
  /** The number of people in rooms; null if this server counts them itself. */
  present(rooms: readonly string[]): Promise<ReadonlyMap<string, number> | null>
  /** Ends a room for everybody in it. */
  close(room: string): Promise<void>
}

export const enterSeconds = 600
