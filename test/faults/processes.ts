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

const unforeseenLine = /"(request|action|event|greeting) failed"|"undeclared error code"/

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** A process of the run, started and ended from outside as often as a fault wants. */
export class Process {
  readonly name: string
  readonly port: number
  /** Ends that nobody asked for. */
  readonly crashes: string[] = []
  /** What it printed that tells of an error nobody caught. */
  unhandled = 0
  /** Lines that tell of an error nobody foresaw, which was answered as a fault of the server's own. */
  readonly unforeseen: string[] = []
  /** Grows whenever it is started, ended, stopped or released. */
  changes = 0
  /** Has it come up, and was it not ended since? */
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

  /** Resolves when its port takes connections; a start that fails is tried again, as a supervisor would. Another program may play its part. */
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

  /** Ends it as an operator would; the exit code, or null where it had to be killed. */
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
