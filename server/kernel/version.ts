import { readFileSync } from 'node:fs'

const packed: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** As the package says. */
export const { version } = packed
