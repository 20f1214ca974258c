import { createHash } from 'node:crypto'
import { cleanFileName, fileNameIn } from '#shared/kit/file-name'

/** Windows treats these as devices, with any ending. */
const devices = /^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(\.|$)/i
/** Windows allows 260 characters, of which the folder of the unpacked archive needs some. */
const mostCharacters = 180
const hashCharacters = 20

/** The path of a stored file in an archive, which each system can write. A key without such a path is replaced by its hash. */
export function archivePathOf(key: string): string {
  const parts = partsOf(key)
  const path = `files/${parts.join('/')}`
  if (path.length <= mostCharacters && parts.every((part) => writable(part) === part)) return path
  const hash = createHash('sha256').update(key).digest('hex').slice(0, hashCharacters)
  return `files/${hash}/${writable(parts.at(-1) ?? '')}`
}

/** The folders of a file, and its own name if it has one. Only the account in a key may have colons. */
function partsOf(key: string): string[] {
  const parts = key.replaceAll(':', '_').split('/')
  const name = fileNameIn(key)
  if (name === null) return parts
  const last = parts.at(-1) ?? ''
  return [...parts.slice(0, -1), last.slice(0, last.indexOf('.')), name]
}

function writable(part: string): string {
  const name = cleanFileName(part)
  return devices.test(name) ? `_${name}` : name
}
