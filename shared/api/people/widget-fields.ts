import { z } from 'zod'
import { colorOf } from '#shared/kit/css-values'
import { Address, nameLine, text } from '#shared/kit/primitives'
import { isOfHost, webAddress } from '#shared/kit/web-address'

/**
 * The setting fields of a widget, all optional. Values of another type, or too long, are refused. Invalid addresses, ids of other
 * services and colours are left out, as documented.
 */

/** Items of a list. */
export const itemsAtMost = 24

const orNothing = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined)
/** What is not written as `read` writes it is left out. */
const read = (how: (value: string) => string | null) =>
  orNothing(
    z
      .string()
      .overwrite((value) => how(value) ?? value)
      .refine((value) => how(value) !== null),
  )
const matching = (pattern: RegExp) => read((value) => (pattern.test(value) ? value : null))

const isSign = (value: string) => nameLine(1, 16).safeParse(value).success

/** One line. */
export const short = nameLine(0, 100).optional()
/** A sentence or two. */
export const words = text(300).optional()
export const prose = text(1_000).optional()
export const sign = nameLine(0, 16).optional()
export const flag = z.boolean().optional()
export const id = nameLine(0, 64).optional()
export const account = Address.optional()
/** One line of a list. */
export const item = nameLine(1, 300)
export const number = (least: number, most: number) => z.number().min(least).max(most).optional()
export const whole = (least: number, most: number) => z.number().int().min(least).max(most).optional()
export const choice = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values).optional()
export const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(itemsAtMost).optional()
export const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => list(z.object(shape))

export const web = read(webAddress)
export const color = read(colorOf)
export const picture = web
/** An address, or a sign such as an emoji. */
export const icon = read((value) => (isSign(value) && !/[:/<>]/.test(value) ? value : webAddress(value)))
export const contract = matching(/^0x[0-9a-fA-F]{40}$/)
export const videoId = matching(/^[\w-]{1,64}$/)
export const user = matching(/^[\w.-]{1,64}$/)
export const spotify = read((value) => {
  if (/^spotify:[a-z]{1,16}:[A-Za-z0-9]{1,64}$/.test(value)) return value
  const address = webAddress(value)
  return address !== null && isOfHost(address, 'spotify.com') ? address : null
})
export const language = matching(/^[a-z]{2}$/)
export const moment = read((value) => {
  const time = value.length <= 40 ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString()
})
export const zone = read((value) => (value.length <= 64 && isZone(value) ? value : null))

function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

const notAnEmoji = { error: 'Not an emoji' }
/** How often each sign was given. */
export const counts = z
  .record(
    z
      .string()
      .regex(/^\P{ASCII}{1,16}$/u, notAnEmoji)
      .refine(isSign, notAnEmoji),
    z.number().int().min(0).max(1_000_000_000),
  )
  .refine((all) => Object.keys(all).length <= itemsAtMost, { error: `At most ${itemsAtMost} of them` })
  .optional()
