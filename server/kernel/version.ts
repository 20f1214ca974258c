import { readFileSync } from 'node:fs'

const packed: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export const { version } = packed
