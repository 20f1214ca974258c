/** Whom a token lets into which room. */
export interface Pass {
  /** The id of the room at the provider. */
  room: string
  /** One for each who enters: an account, or a guest of this visit. */
  identity: string
  /** As the others are shown it. */
  name: string
  isHost: boolean
}

/** Where the people of a meeting see and hear each other. Throws UPSTREAM_ERROR or TIMEOUT where a provider gives no answer. */
export interface Meetings {
  /** Where clients take their tokens; null where people meet over the sockets of this server. */
  readonly url: string | null
  /** A token by which one person enters within ten minutes. The first makes the room, with so many places. */
  admit(pass: Pass, most: number): Promise<string>
  /** Whom a token lets in over the sockets of this server; null where it lets nobody in there. */
  read(token: string): Promise<Pass | null>
  /** How many are in these rooms; null where people meet over this server, which counts them itself. */
  present(rooms: readonly string[]): Promise<ReadonlyMap<string, number> | null>
  /** Ends a room for everybody in it. */
  close(room: string): Promise<void>
}

export const enterSeconds = 600
