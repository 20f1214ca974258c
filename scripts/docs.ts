import { mkdirSync, writeFileSync } from 'node:fs'
import { documents } from './documents.ts'

const root = new URL('..', import.meta.url)

mkdirSync(new URL('docs/api', root), { recursive: true })
for (const [path, text] of Object.entries(await documents())) writeFileSync(new URL(path, root), text)
