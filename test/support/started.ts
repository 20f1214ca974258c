import { type ChildProcess, spawn } from 'node:child_process'
import { programs } from './programs.ts'

/** A process of the built server, or of another program that opens one, without the demo. */
export function spawned(environment: Record<string, string>, program: string = programs.main) {
  const { MONGODB_URI: _, ...inherited } = process.env
  return spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...inherited,
      PORT: '0',
      OPS_PORT: '0',
      DEMO: 'off',
      OFFICIAL_CHANNELS: 'off',
      WELCOME_MESSAGE: 'off',
      LOG_LEVEL: 'silent',
      ...environment,
    },
  })
}

/** Starts such a process. Resolves once it is open. */
export async function started(
  environment: Record<string, string>,
  program?: string,
): Promise<{ url: string; process: ChildProcess }> {
  const child = spawned(environment, program)
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk
      const open = /Plaza is open: (\S+)/.exec(said)?.[1]
      if (open) resolve(open)
    })
    child.once('exit', () => reject(new Error(`The server did not start: ${said}`)))
  })
  return { url, process: child }
}

/** A new database on the MongoDB of the tests. */
export function freshDatabase(): string {
  const uri = process.env.MONGODB_URI
  if (!uri) throw new Error('These tests need a MongoDB: run them by `npm test`, or set MONGODB_URI.')
  const at = new URL(uri)
  at.pathname = `/${process.env.PLAZA_TEST_DATABASES ?? 'plaza_test_'}${crypto.randomUUID().slice(0, 13)}`
  return at.href
}
