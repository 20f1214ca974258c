/** One reading of a text. */
interface Reading {
  text: string
  /** Where a character of it begins in the text that was given. */
  at(index: number): number
}

/** An escaped text can be within an escaped text, and once more. */
const mostTimes = 3
const escapes =
  /%([0-9a-f]{2})|\\u00([0-9a-f]{2})|\\x([0-9a-f]{2})|&#x0*([0-9a-f]{2});|&#0*(\d{2,3});|&(amp|lt|gt|quot|apos);|\\(["\\/])/gi
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text as it stands, and without the escapes of URLs, JSON and HTML as often as there are any. */
export function readingsOf(text: string): Reading[] {
  const readings: Reading[] = []
  let next: Reading | null = { text, at: (index) => index }
  while (next && readings.length <= mostTimes) {
    readings.push(next)
    next = unescaped(next)
  }
  return readings
}

function unescaped({ text, at }: Reading): Reading | null {
  const begins: number[] = []
  let plain = ''
  let done = 0
  const keepUntil = (end: number) => {
    plain += text.slice(done, end)
    for (; done < end; done++) begins.push(at(done))
  }
  for (const match of text.matchAll(escapes)) {
    keepUntil(match.index)
    plain += meantBy(match)
    begins.push(at(match.index))
    done += match[0].length
  }
  if (done === 0) return null
  keepUntil(text.length)
  const end = at(text.length)
  return { text: plain, at: (index) => begins[index] ?? end }
}

function meantBy([, url, json, byte, hex, decimal, name, sign]: RegExpExecArray): string {
  const code = url ?? json ?? byte ?? hex
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
  if (decimal !== undefined) return String.fromCharCode(Number(decimal))
  return (name === undefined ? sign : named[name.toLowerCase()]) ?? ''
}
