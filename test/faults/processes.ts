import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Command {
  file: string
  args: readonly string[]
  env?: Record<string, string>
}

const startMilliseconds = 240_000
const stopMilliseconds = 20_000

const unforeseenLine =
  /"(request|action|event|greeting) failed"|"(undeclared error code|unhandledRejection|uncaughtException)"/

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** A process of the run, which faults can start and stop. */
export class Process {
  readonly name: string
  readonly port: number
  /** Exits that no fault caused. */
  readonly crashes: string[] = []
  /** Its output about uncaught errors. */
  unhandled = 0
  /** Log lines about unexpected errors, which were answered as internal errors. */
  readonly unforeseen: string[] = []
  /** Incremented whenever the process is started, stopped, paused or resumed. */
  changes = 0
  /** True if it has started and was not stopped since. */
  isUp = false
  readonly lastWords: string[] = []
  readonly #command: Command
  #child: ChildProcess | null = null
  #isEnding = false

  constructor(name: string, port: number, command: Command) {
    this.name = name
    this.port = port
    this.#command = command
  }

  /** Resolves when its port accepts connections; a failed start is repeated, as a supervisor does. Another program may be started in its place. */
  async start(env: Record<string, string> = {}, program = this.#command.file): Promise<void> {
    const end = Date.now() + startMilliseconds
    while (Date.now() < end) {
      this.#spawn(program, env)
      while (this.isRunning && Date.now() < end) {
        if (await isListening(this.port)) return this.#isUp(env.FAILPOINT !== undefined)
        await pause(25)
      }
      if (this.#child?.signalCode === 'SIGKILL') return
      await pause(250)
    }
    throw new Error(`${this.name} did not start:\n${this.lastWords.join('\n')}`)
  }

  #spawn(program: string, env: Record<string, string>): void {
    this.#isEnding = true
    this.#note()
    const child = spawn(program, [...this.#command.args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', ...this.#command.env, ...env },
    })
    this.#child = child
    children.add(child)
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => this.#heard(text.toString()))
    child.once('exit', (code, signal) => {
      children.delete(child)
      if (child === this.#child) this.#note()
      if (child === this.#child && !this.#isEnding) this.crashes.push(`${this.name} ended with ${code ?? signal}`)
    })
  }

  #isUp(mayDie: boolean): void {
    this.#isEnding = mayDie
    this.isUp = this.isRunning
  }

  #note(isUp = false): void {
    this.changes++
    this.isUp = isUp
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Null while it does not run. */
  get pid(): number | null {
    return this.isRunning ? (this.#child?.pid ?? null) : null
  }

  hold(): void {
    this.#note(this.isUp)
    this.#child?.kill('SIGSTOP')
  }

  release(): void {
    this.#note(this.isUp)
    this.#child?.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    this.#isEnding = true
    this.#note()
    this.#child?.kill('SIGKILL')
    await this.#ended()
  }

  /** Stops it as an operator would; resolves with the exit code, or null if it had to be killed. */
  async end(): Promise<number | null> {
    this.#isEnding = true
    this.#note()
    this.#child?.kill('SIGTERM')
    await Promise.race([this.#ended(), pause(stopMilliseconds, undefined, { ref: false })])
    const code = this.#child?.exitCode ?? null
    await this.kill()
    return code
  }

  async #ended(): Promise<void> {
    if (this.#child && this.isRunning) await once(this.#child, 'exit')
  }

  #heard(text: string): void {
    this.unhandled += text.match(/unhandledRejection|uncaughtException/g)?.length ?? 0
    this.unforeseen.push(...text.split('\n').filter((line) => unforeseenLine.test(line)))
    this.lastWords.push(...text.split('\n').filter(Boolean))
    this.lastWords.splice(0, this.lastWords.length - 20)
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
