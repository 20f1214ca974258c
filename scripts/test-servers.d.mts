export type MongoServer = {
  uri: string
  name: string
  /** How it ended, if nobody stopped it. */
  died?: Promise<string | undefined>
  stop: () => Promise<void>
}
export function startMongo(): Promise<MongoServer | { missing: string }>
export type RedisServer = {
  url: string
  name: string
  died?: Promise<string | undefined>
  signal: (name: NodeJS.Signals) => void
  stop: () => Promise<void>
}
export function startRedis(port?: number): Promise<RedisServer | { missing: string }>
export function findAnvil(): string | undefined
export function provisionAnvil(): { name: string } | { missing: string }
export function provisionNode(major: number): { name: string; missing?: never } | { name?: never; missing: string }
export function findOtherNode(): string | undefined
export function provisionOtherNode(): { name: string } | { missing: string }
export function findPythonClient(): string | undefined
export function provisionPythonClient(): { name: string } | { missing: string }
export function findChromium(): string | undefined
export interface MongoProgram {
  name: string
  binary: string
  options(directory: string, port: number): string[]
  prepare(port: number): Promise<void>
}
export function findMongo(): MongoProgram
export function placeFor(bytes: number): string
export function freePort(): Promise<number>
