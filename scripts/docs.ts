import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documents } from './documents.ts'
import { operationList, operationsFile } from './operation-list.ts'

/** `npm run docs` writes the list of operations; with a folder, as the build calls it, both documents of the API into that. */
const [folder] = process.argv.slice(2)
if (folder === undefined) writeFileSync(operationsFile, operationList())
else for (const [name, text] of Object.entries(await documents())) writeFileSync(join(folder, name), text)
