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
      return `export const table = ${JSON.stringify(valuesAlone(await tsImport(table.href, import.meta.url)))}`
    },
  }
}

function valuesAlone({ table: { events, ...values } }) {
  const named = Object.entries(events).map(([key, { name, namespace }]) => [key, { name, namespace }])
  return { ...values, events: Object.fromEntries(named) }
}
