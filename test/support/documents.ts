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
