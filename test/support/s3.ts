import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { S3Config } from '#server/ports/storage/s3'

const atomic = new URL('./s3-atomic.mjs', import.meta.url).href
const bin = join(dirname(createRequire(import.meta.url).resolve('s3rver')), '..', 'bin', 's3rver.js')

export const s3Keys = { keyId: 'S3RVER', secret: 'S3RVER' }

/** How a server that speaks S3 is started, with these buckets. */
export const s3Command = (folder: string, port: number, buckets: readonly string[]) => ({
  file: process.execPath,
  args: [
    ...['--import', atomic, bin, '-a', '127.0.0.1', '-d', folder, '-p', `${port}`, '--silent'],
    ...buckets.flatMap((bucket) => ['--configure-bucket', bucket]),
  ],
})

/** Such a server, as a process of its own. */
export async function openS3(buckets: readonly string[]): Promise<S3Config & { stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'plaza-s3-'))
  const { file, args } = s3Command(folder, 0, buckets)
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const endpoint = await endpointOf(child)
  return {
    endpoint,
    region: 'us-east-1',
    ...s3Keys,
    buckets: {},
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function endpointOf({ stdout }: ChildProcess): Promise<string> {
  let told = ''
  for await (const chunk of stdout ?? []) {
    told += chunk
    const port = /:(\d+)\s*$/.exec(told)?.[1]
    if (port !== undefined) return `http://127.0.0.1:${port}`
  }
  throw new Error(`s3rver has ended: ${told}`)
}
