import { AppError } from '#shared/errors'
import type { Question, Reply } from './local.ts'
import { readPicture } from './pictures/read.ts'
import type { CleanFile, ReadDocument } from './port.ts'
import { readSound } from './sounds/read.ts'

// What is read here reaches no other machine.
for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'])
  Object.defineProperty(globalThis, name, { value: undefined })

const longest = 2_000_000

/** Loaded before anything is asked, as that takes longer than a page may. */
const documents = process.argv[2] === 'documents' ? await import('./document.ts') : null

process.on('disconnect', () => process.exit())
process.on('message', (question: Question) => {
  void Promise.resolve()
    .then((): Promise<unknown> => ('file' in question ? clean(question) : read(question)))
    .then((found): Reply<unknown> => ({ found }))
    .catch((error: unknown) => refusalOf(error))
    .then((reply) => process.send?.(reply))
})
process.send?.('ready')

const refusalOf = (error: unknown): Reply<never> =>
  error instanceof AppError ? { refused: { code: error.code, message: error.message } } : null

async function read({ as, document, said }: Extract<Question, { as: unknown }>): Promise<ReadDocument> {
  if (!documents) throw new Error('Files are read here')
  const found = await documents.readAs(as, document, said)
  return { ...found, text: withoutBlobs(found.text.slice(0, longest)) }
}

async function clean({ kinds, file }: Extract<Question, { file: unknown }>): Promise<CleanFile | null> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length)
  const picture = kinds.includes('picture') ? readPicture(bytes) : null
  return picture === null && kinds.includes('sound') ? readSound(bytes) : picture
}

const withoutBlobs = (text: string) =>
  text.replace(/data:[\w/+.-]{1,80};base64,[\w+/=]+|[\w+/]{400,}={0,2}/g, '').replace(/ {41,}/g, ' '.repeat(40))
