/** One Redis server, which may be away at any time. Nothing that was acknowledged rests on it. */
export interface Redis {
  /** As shown in the table at start; carries no credentials. */
  readonly name: string
  /** Sets this installation apart from others on the same server: the first part of every key and channel. */
  readonly prefix: string
  isUp(): boolean
  /** The last failure of its connections, if any. */
  trouble(): string | null
  /** Called at each change between there and away. */
  onChange(listener: (isUp: boolean) => void): void
  /** Runs a script in one round trip. Rejects at once while Redis is away, and when it has not answered after 250 ms. */
  run(script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>
  /** The number of receivers. Rejects as `run` does, and above `longestMessage`. */
  publish(channel: string, message: string): Promise<number>
  /** Receives the channel's messages until the returned function is called, while Redis is up. Forged or damaged messages are dropped. */
  subscribe(channel: string, listener: (message: string) => void): () => void
  close(): Promise<void>
}

export const longestMessage = 512 * 1024
