import { fork } from 'node:child_process'
import { rename, rm, stat } from 'node:fs/promises'

export interface FinalizeTask {
  from: string
  to: string
}

export type Finalized = { progress: number } | { durationSeconds: number } | { error: string }

const lateMilliseconds = 30 * 60_000
const limits = ['--max-old-space-size=512']
/** From the file of the engine, as `scripts/build.mjs` puts them. */
const built = '../finalizer/main.js'

/** Makes a seekable MP4 of fragments, in a process of its own. Throws without anything playable. */
export async function finalize(
  from: string,
  to: string,
  tell: (progress: number) => void,
): Promise<{ durationSeconds: number; sizeBytes: number }> {
  const unfinished = `${to}.unfinished`
  try {
    const durationSeconds = await work({ from, to: unfinished }, tell)
    await rename(unfinished, to)
    return { durationSeconds, sizeBytes: (await stat(to)).size }
  } finally {
    await rm(unfinished, { force: true })
  }
}

function work(task: FinalizeTask, tell: (progress: number) => void): Promise<number> {
  const isBuilt = !import.meta.url.endsWith('.ts')
  const one = fork(new URL(isBuilt ? built : './finalizer.ts', import.meta.url), {
    execArgv: [...limits, ...(isBuilt ? [] : ['--import', 'tsx'])],
    env: {},
    stdio: 'ignore',
  })
  return new Promise<number>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('It took too long')), lateMilliseconds)
    one.on('message', (told: Finalized) => {
      if ('progress' in told) tell(told.progress)
      else if ('error' in told) reject(new Error(told.error))
      else resolve(told.durationSeconds)
    })
    one.on('error', reject)
    one.on('exit', () => {
      clearTimeout(late)
      reject(new Error('What makes the recording ended'))
    })
    one.send(task, () => undefined)
  }).finally(() => one.kill('SIGKILL'))
}
