import { spawn } from 'node:child_process'

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const
/** Of the numbers of signals, to which 128 is added, as a shell does. */
const killed = 137
const longestLine = 65_536
const quietMilliseconds = 100

/** Is what is written here read by machines? Known before all else is read. */
export const isProduction = (): boolean => process.env.NODE_ENV === 'production'

/** Whether a parent process waits for the end of this one, as `lead` and benchmarks do. */
export const isLed = (): boolean => process.send !== undefined

/**
 * Runs this program as a child, and turns its standard error into lines of JSON. Native modules and Node write plain text
 * there, even as the process dies. Ends as the child ends.
 */
export function lead(): void {
  const [, program = '', ...given] = process.argv
  const server = spawn(process.execPath, [...process.execArgv, program, ...given], {
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
  })
  for (const signal of signals) process.on(signal, () => server.kill(signal))
  const lines = inLines((line) => process.stderr.write(`${isJson(line) ? line : lineOf(line)}\n`))
  server.stderr?.setEncoding('utf8').on('data', lines.add)
  server.once('close', (code) => {
    lines.end()
    process.exit(code ?? killed)
  })
}

/** What is written without an end of the line is one as soon as nothing follows. */
function inLines(tell: (line: string) => void) {
  let rest = ''
  let late: NodeJS.Timeout | undefined
  const end = () => {
    if (rest.trim() !== '') tell(rest)
    rest = ''
  }
  return {
    add(text: string): void {
      clearTimeout(late)
      const [last = '', ...lines] = `${rest}${text}`.split('\n').reverse()
      for (const line of lines.reverse()) if (line.trim() !== '') tell(line)
      rest = last
      if (rest.length > longestLine) end()
      else late = setTimeout(end, quietMilliseconds)
    },
    end,
  }
}

function lineOf(msg: string): string {
  const time = new Date(Math.round(performance.timeOrigin + performance.now())).toISOString()
  return JSON.stringify({ level: 50, time, msg })
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}
