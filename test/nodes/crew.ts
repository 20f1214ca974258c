import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#test/support/test-servers'

/** A server started as by an operator: a separate process, controlled by its ports and signals only. */
export interface Crew {
  url: string
  opsUrl: string
  primary: ChildProcess
  /** The pids of its workers, as the operating system lists them. */
  workers(): number[]
  /** The answer of the operators' port; null if nothing listens. */
  ops(path: string): Promise<{ status: number; body: string } | null>
  metric(name: string): Promise<number>
  /** Resolves with the exit code. */
  exited: Promise<number | null>
  end(): Promise<void>
}

/** Starts workers over a database; resolves once they listen. */
export async function startCrew(program: string, workers: number, mongodbUri: string): Promise<Crew> {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-crew-'))
  const [port, opsPort] = [await freePort(), await freePort()]
  const primary = spawn(process.execPath, [program, '--workers', String(workers)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_ENV: 'test',
      PORT: String(port),
      OPS_PORT: String(opsPort),
      PUBLIC_URL: 'http://localhost:3000',
      DATA_DIR: directory,
      MONGODB_URI: mongodbUri,
      LOG_LEVEL: 'silent',
      RATE_LIMIT_SCALE: '1000',
    },
  })
  const exited = once(primary, 'exit').then(([code]) => code as number | null)
  const opsUrl = `http://127.0.0.1:${opsPort}`
  const ops: Crew['ops'] = async (path) => {
    const answer = await fetch(opsUrl + path).catch(() => null)
    return answer && { status: answer.status, body: await answer.text() }
  }
  const crew: Crew = {
    ...{ url: `http://127.0.0.1:${port}`, opsUrl, primary, ops, exited },
    workers: () => childrenOf(primary.pid ?? 0),
    metric: async (name) => {
      const line = (await ops('/metrics'))?.body.split('\n').find((each) => each.startsWith(`${name} `))
      return Number(line?.split(' ')[1])
    },
    async end() {
      if (primary.exitCode === null) primary.kill('SIGKILL')
      await exited
      rmSync(directory, { recursive: true, force: true })
    },
  }
  while ((await ops('/readyz'))?.status !== 200) {
    if (primary.exitCode !== null) throw new Error(`The server ended with ${primary.exitCode}.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return crew
}

function childrenOf(pid: number): number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return listed.split(' ').filter(Boolean).map(Number)
}
