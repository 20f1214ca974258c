import { fileURLToPath } from 'node:url'
import { tsImport } from 'tsx/esm/api'

const table = new URL('../client/sdk/table.ts', import.meta.url)

/** For Vite: what a client knows of the contract is bundled as values, without the schemas it is read from. */
export function contractValues() {
  return {
    name: 'contract-values',
    enforce: 'pre',
    async load(id) {
      if (id !== fileURLToPath(table)) return null
      const { operations, ...values } = valuesAlone(await tsImport(table.href, import.meta.url))
      return `export const table = { ...${JSON.stringify(values)}, operations: (${readLines})(${JSON.stringify(linesOf(operations))}) }`
    },
  }
}

function valuesAlone({ table: { events, ...values } }) {
  const named = Object.entries(events).map(([key, { name, namespace }]) => [key, { name, namespace }])
  return { ...values, events: Object.fromEntries(named) }
}

const columns = ['http', 'socket', 'key', 'stream', 'lines']

/**
 * One line for each operation, as the names of its fields would weigh more on the first screen. A domain is named in its first
 * line alone.
 */
function linesOf(operations) {
  let domain = ''
  const rows = Object.entries(operations).map(([name, operation]) => {
    const others = Object.keys(operation).filter((field) => !columns.includes(field))
    if (others.length > 0) throw new Error(`${name} has ${others}, for which there is no column.`)
    const [before, [own, short]] = [domain, name.split('.')]
    domain = own
    return [own === before ? '' : own, short, ...columns.map((field) => operation[field] ?? '')]
      .join('|')
      .replace(/\|+$/, '')
  })
  return rows.join('\n')
}

const readLines = `(lines) => {
  let domain
  return Object.fromEntries(lines.split('\\n').map((line) => {
    const [own, name, ...fields] = line.split('|')
    domain = own || domain
    const filled = ${JSON.stringify(columns)}.flatMap((field, at) => fields[at] ? [[field, fields[at]]] : [])
    return [domain + '.' + name, Object.fromEntries(filled)]
  }))
}`
