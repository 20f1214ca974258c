/**
 * CSS values of users: a colour, or gradients of colours. A value is parsed and written anew. Thus it has no `url()`, no other
 * function, and no end of a declaration.
 */

const colorLength = 64
/** Characters of a background, however many gradients it has. */
export const gradientsLength = 2_000
const stopsAtMost = 8
const gradientsAtMost = 6

const hex = /^#(?:[0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/
const functional = /^(rgb|hsl)a?\(([^()]*)\)$/
const number = /^-?(?:\d{1,4}(?:\.\d{1,4})?|\.\d{1,4})$/

const numberIn = (text: string, least: number, most: number): number | null => {
  const value = number.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : null
}
const percentIn = (text: string): number | null => numberIn(/^(.+)%$/.exec(text)?.[1] ?? '', 0, 100)
const alphaIn = (text: string): number | null => {
  const percent = percentIn(text)
  return percent === null ? numberIn(text, 0, 1) : percent / 100
}

/** Red, green and blue from 0 to 255, and how opaque from 0 to 1. */
export type Rgba = readonly [red: number, green: number, blue: number, alpha: number]

/** `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, `rgb[a](r, g, b[, a])`, `hsl[a](h, s%, l%[, a])` or `transparent`; null for anything else. */
export function rgbaOf(value: string): Rgba | null {
  if (value.length > colorLength) return null
  const text = value.trim().toLowerCase()
  if (text === 'transparent') return [0, 0, 0, 0]
  if (hex.test(text)) return ofHex(text.slice(1))
  const [, form, inside = ''] = functional.exec(text) ?? []
  if (form === undefined) return null
  const [first = '', second = '', third = '', alpha = '1', ...more] = inside.split(',').map((part) => part.trim())
  const opaque = alphaIn(alpha)
  if (more.length > 0 || opaque === null) return null
  if (form === 'rgb') {
    const [red, green, blue] = [first, second, third].map((part) => numberIn(part, 0, 255))
    return red == null || green == null || blue == null ? null : [red, green, blue, opaque]
  }
  const hue = numberIn(first, -360, 360)
  const [saturation, lightness] = [percentIn(second), percentIn(third)]
  if (hue === null || saturation === null || lightness === null) return null
  return [...ofHsl((hue + 360) % 360, saturation / 100, lightness / 100), opaque]
}

function ofHex(digits: string): Rgba {
  const pairs = digits.length > 4 ? (digits.match(/../g) ?? []) : [...digits].map((digit) => digit + digit)
  const [red = 0, green = 0, blue = 0, alpha = 255] = pairs.map((pair) => Number.parseInt(pair, 16))
  return [red, green, blue, alpha / 255]
}

function ofHsl(hue: number, saturation: number, lightness: number): [number, number, number] {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const at = (offset: number) => {
    const turn = (offset + hue / 30) % 12
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))))
  }
  return [at(0), at(8), at(4)]
}

/** The same colour in one way of writing: `#rrggbb`, or `rgba(r, g, b, a)` where something shines through; null where it is none. */
export function colorOf(value: string): string | null {
  const rgba = rgbaOf(value)
  if (!rgba) return null
  const [red, green, blue] = rgba.slice(0, 3).map(Math.round)
  const alpha = Math.round(rgba[3] * 1_000) / 1_000
  if (alpha < 1) return `rgba(${red}, ${green}, ${blue}, ${alpha})`
  return `#${[red, green, blue].map((part) => (part ?? 0).toString(16).padStart(2, '0')).join('')}`
}

/** The parts between these commas that stand in no parentheses. */
function partsOf(text: string): string[] {
  let depth = 0
  const parts = ['']
  for (const sign of text) {
    if (sign === '(') depth += 1
    if (sign === ')') depth -= 1
    if (sign === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += sign
  }
  return parts.map((part) => part.trim())
}

const sides = /^to (?:top|bottom|left|right|(?:top|bottom) (?:left|right)|(?:left|right) (?:top|bottom))$/
const places = 'center|top|bottom|left|right|top left|top right|bottom left|bottom right'
const where = `at (?:${places}|\\d{1,3}% \\d{1,3}%)`
const circle = new RegExp(`^(?:(?:circle|ellipse)(?: ${where})?|${where})$`)

/** Where a gradient begins, written anew; null where it is no such direction. */
function directionOf(form: string, text: string): string | null {
  if (form === 'radial') return text !== '' && circle.test(text) ? text : null
  if (sides.test(text)) return text
  const angle = numberIn(/^(.+)deg$/.exec(text)?.[1] ?? '', -360, 360)
  return angle === null ? null : `${angle}deg`
}

/** Pixels from the beginning of a gradient. */
const pixelsAtMost = 4_000

function placeIn(text: string): string | null {
  const percent = percentIn(text)
  const pixels = numberIn(/^(.+)px$/.exec(text)?.[1] ?? '', 0, pixelsAtMost)
  if (percent !== null) return `${percent}%`
  return pixels === null ? null : `${pixels}px`
}

function stopOf(text: string): string | null {
  const [, before, at] = /^(.*) (\S+(?:%|px))$/.exec(text) ?? []
  const color = before?.trim() ?? text
  const written = color === 'transparent' ? color : colorOf(color)
  if (written === null || at === undefined) return written
  const place = placeIn(at)
  return place === null ? null : `${written} ${place}`
}

function gradientOf(text: string): string | null {
  const [, form, inside = ''] = /^(linear|radial)-gradient\((.*)\)$/.exec(text) ?? []
  if (form === undefined) return null
  const [first = '', ...rest] = partsOf(inside)
  const direction = directionOf(form, first)
  const stops = (direction === null ? [first, ...rest] : rest).map(stopOf)
  if (stops.length < 2 || stops.length > stopsAtMost || stops.includes(null)) return null
  return `${form}-gradient(${[...(direction === null ? [] : [direction]), ...stops].join(', ')})`
}

/** One to six linear or radial gradients of such colours, the first on top, written anew; null for anything else. */
export function gradientsOf(value: string): string | null {
  if (value.length > gradientsLength) return null
  const text = value.trim().toLowerCase().replace(/\s+/g, ' ')
  const parts = partsOf(text)
  const gradients = parts.length > gradientsAtMost ? [null] : parts.map(gradientOf)
  const written = gradients.join(', ')
  return gradients.includes(null) || written.length > gradientsLength ? null : written
}

/** The colours that a value names, to judge what can be read on it. */
export const colorsIn = (value: string): Rgba[] =>
  (value.match(/#[0-9a-f]{3,8}\b|(?:rgb|hsl)a?\([^()]*\)/gi) ?? []).map(rgbaOf).filter((rgba) => rgba !== null)
