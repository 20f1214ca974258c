export type MongoServer = { uri: string; name: string; stop: () => Promise<void> }
export function startMongo(): Promise<MongoServer | { missing: string }>
export function findChromium(): string | undefined
