export type MongoServer = { uri: string; name: string; stop: () => Promise<void> }
export function startMongo(): Promise<MongoServer | { missing: string }>
export function findChromium(): string | undefined
export interface MongoProgram {
  name: string
  binary: string
  options(directory: string, port: number): string[]
  prepare(port: number): Promise<void>
}
export function findMongo(): MongoProgram
