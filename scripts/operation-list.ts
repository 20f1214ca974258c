import { api } from '#shared/api/index'
import { type Cost, commonErrors, type Named, operationsOf, scopeOf } from '#shared/kit/contract'
import { errorCodesOf } from '#shared/kit/json-schema'

export const operationsFile = new URL('../docs/api/operations.txt', import.meta.url)

const head = `# Every operation of shared/api, written by \`npm run docs\`.
# Columns: path, socket event, caller and scope of a service token, rate tier, cost, errors. \`=\` is another path of the same operation.
# Errors of every operation: ${commonErrors.slice(0, 7).join(' ')}
#   ${commonErrors.slice(7).join(' ')}
`

/** Wide enough for most; the columns of a line do not move those of the others. */
const widths = [47, 36, 6, 22, 9, 12]
const columns = (...cells: string[]) => cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' ')

/** A line an operation and a line an alias, in the order of their paths. */
export function operationList(): string {
  const lines = operationsOf(api).flatMap(linesOf)
  const sorted = lines.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  return `${head}\n${sorted.map((line) => `${line.trimEnd()}\n`).join('')}`
}

function linesOf({ name, operation }: Named): string[] {
  const { http, aliases = [], socket = '-', alsoOn = [], access, limit, cost } = operation
  const routes = [http, ...aliases.map((alias) => alias.http)].filter((route) => route !== undefined)
  const [path = '-', ...others] = routes.map((route) => route.replace(/^\w+/, (method) => method.padEnd(6)))
  const event = [socket, ...alsoOn].join(' ')
  const { own } = errorCodesOf(operation)
  const line = columns(path, event, access, scopeOf({ name, operation }), limit, costOf(cost), own.sort().join(' '))
  return [line, ...others.map((other) => columns(other, `= ${path}`))]
}

const costOf = (cost: Cost): string => (cost === 'cheap' ? cost : Object.entries(cost).flat().join(' '))

/** By the path before the method; operations without a path come first, by their event. */
const orderOf = (line: string): string => line.replace(/^(\w+) +(\S+)/, '$2 $1')
