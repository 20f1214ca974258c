import { deflateRawSync } from 'node:zlib'

/** A PDF of one page for each text. */
export function pdfOf(title: string, pages: readonly string[]): Uint8Array {
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + at * 2} 0 R >>`,
      streamOf(`BT /F1 12 Tf 72 720 Td ${linesOf(text)} ET`),
    ]),
    `<< /Title (${title}) >>`,
  ]
  return pdfOfObjects(objects, objects.length)
}

/** The sixth object, or another, is the document's information. */
function pdfOfObjects(objects: readonly string[], info = 6): Uint8Array {
  const parts = ['%PDF-1.4\n']
  const offsets = objects.map((body, at) => {
    const offset = parts.join('').length
    parts.push(`${at + 1} 0 obj\n${body}\nendobj\n`)
    return offset
  })
  const start = parts.join('').length
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`)
  parts.push(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R >>\nstartxref\n${start}\n%%EOF\n`)
  return Buffer.from(parts.join(''), 'latin1')
}

/** A PDF of one page whose font has these two objects of its own, and which draws this. */
export function pdfWithFont(font: string, more: readonly string[], drawn: string): Uint8Array {
  return pdfOfObjects([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    font,
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>',
    streamOf(`BT /F1 12 Tf ${drawn} ET`),
    '<< /Title (Made by hand) >>',
    ...more,
  ])
}

/** Text beyond the edge of the page would be no part of it. */
const linesOf = (text: string) =>
  [...text.replace(/[()\\]/g, '\\$&').matchAll(/.{1,80}(?= |$)/g)].map(([line]) => `(${line}) Tj 0 -14 Td`).join(' ')

const streamOf = (content: string) => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`

/** A ZIP archive of stored or deflated files. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>, isDeflated = true): Uint8Array {
  const parts: Buffer[] = []
  const entries: Buffer[] = []
  let at = 0
  for (const [name, content] of Object.entries(files)) {
    const whole = Buffer.from(content)
    const bytes = isDeflated ? deflateRawSync(whole) : whole
    const method = isDeflated ? 8 : 0
    const file = Buffer.alloc(30)
    file.writeUInt32LE(0x04034b50, 0)
    file.writeUInt16LE(method, 8)
    file.writeUInt32LE(bytes.length, 18)
    file.writeUInt32LE(whole.length, 22)
    file.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(method, 10)
    entry.writeUInt32LE(bytes.length, 20)
    entry.writeUInt32LE(whole.length, 24)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(at, 42)
    parts.push(file, Buffer.from(name), bytes)
    entries.push(entry, Buffer.from(name))
    at += file.length + name.length + bytes.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length / 2, 8)
  end.writeUInt16LE(entries.length / 2, 10)
  end.writeUInt32LE(Buffer.concat(entries).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, ...entries, end])
}

/** A Word document of this body. */
export const docxOf = (body: string, isDeflated = true): Uint8Array =>
  zipOf(
    {
      '[Content_Types].xml': '<Types/>',
      'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
    },
    isDeflated,
  )
