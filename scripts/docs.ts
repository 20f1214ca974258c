import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documents, operationList, operationsFile } from './documents.ts'
import { privacyFile, privacyText } from './own-data-table.ts'

/** `npm run docs` writes the list of operations and the table of personal data. The build gives a folder for both API documents. */
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  writeFileSync(operationsFile, operationList())
  writeFileSync(privacyFile, privacyText())
} else for (const [name, text] of Object.entries(await documents())) writeFileSync(join(folder, name), text)
