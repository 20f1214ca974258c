import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { KnowledgeTexts } from '#server/domains/agents/library/model'
import type { Node } from '#server/kernel/context'
import type { ReadAs } from '#server/ports/reader/port'
import { AppError } from '#shared/errors'
import { insertItem } from './items.ts'

/** The most characters of one text. */
const mostCharacters = 500_000
const fewestCharacters = 50
const filesInHour = 30
const hourSeconds = 3_600

interface GivenText {
  kind: 'file' | 'text'
  title: string
  text: string
}

/** Adds a text to the knowledge of an agent. */
export async function addText(node: Node, agent: StoredAgent, { kind, title, text }: GivenText, id: string) {
  const kept = text.toWellFormed().trim()
  if (kept.length <= fewestCharacters)
    throw new AppError('VALIDATION_ERROR', { message: `At least ${fewestCharacters} characters of text are needed` })
  if (kept.length > mostCharacters)
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `At most ${mostCharacters} characters of text can be kept` })
  await KnowledgeTexts.updateOne({ _id: id }, { $set: { agent_id: agent._id, text: kept } }, { upsert: true })
  const item = { id, url: urlOfText(id), title, content_type: kind }
  return insertItem(node, agent, item).catch(async (error: unknown) => {
    await KnowledgeTexts.deleteOne({ _id: id })
    throw error
  })
}

/** The name of a text. It leads nowhere. */
const urlOfText = (id: string) => new URL(`urn:plaza:knowledge:${id}`)

interface GivenFile {
  account: string
  name: string
  file: File
  signal: AbortSignal
}

/** The text of a file. Throws UNSUPPORTED_MEDIA_TYPE, and the refusals of the reader. */
export async function textOfFile(node: Node, { account, name, file, signal }: GivenFile): Promise<string> {
  if (!(await node.limits.guard('knowledge-files', account, filesInHour, hourSeconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const bytes = new Uint8Array(await file.arrayBuffer())
  const { text } = await node.services.reader.read(kindOf(bytes, name), bytes, undefined, { of: account, signal })
  return text
}

const startOf = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 5)).toString('latin1')
const lookedAtBytes = 8_192

function kindOf(bytes: Uint8Array, name: string): ReadAs {
  const start = startOf(bytes)
  if (start === '%PDF-') return 'pdf'
  if (start.startsWith('PK\u0003\u0004')) return 'docx'
  if (bytes.subarray(0, lookedAtBytes).includes(0))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Only PDF, Word (.docx), Markdown, text and CSV can be read',
    })
  if (/\.(md|mdx|markdown)$/i.test(name)) return 'markdown'
  return /\.html?$/i.test(name) ? 'page' : 'text'
}
