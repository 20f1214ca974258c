import { expect, test } from 'vitest'
import { z } from 'zod'
import { widgetKinds } from '#shared/api/people/profile-widgets'
import { line, nameLine, text } from '#shared/kit/primitives'
import { judgedNames } from '#test/support/judged-names'
import { fieldsIn, kindOf, textFields } from '#test/support/string-fields'

type Reasons = Readonly<Record<string, RegExp>>

/** Fields that hold anything, by why nobody else reads that. */
const unread: Reasons = {
  'a proof of who somebody is': /^(identity|identities|federation|email|passkeys)\.|^meetings\.enter\.token$/,
  'a signed payment': /^booking\.schedule\.paymentHeader$|^payments\.chat(Stream)?\.payment$/,
  'compared with what is stored':
    /\.(id|callId|scheduledCallId|chatId|conversationId|code|cursor|epoch|option_id|stream|model|apiName)$/,
  'compared, item by item': /\.(blobs|mediaUrls|addresses|scopes)\[\]$/,
  'a key of its client': /^streams\.watch\.viewer_key$|^polls\.(create|update)\.api_key$/,
  'read by one browser': /^meetings\.signal\.signal\.sdp$/,
  'a file, or what is known of it': /^uploads\./,
  'asked, and shown to its owner alone': /^webhooks\.(create|update)\.url$/,
  'told to a model alone': /^agents\.(create|update)\.api_?[tT]ools\[\]\.schema(\{(key)?\})?$/,
  'written anew from what was read':
    /^rooms\.createChannel\.(attendance|poap)(Event|Collection)Name$|\.background_value$/,
  'read by the schema of each widget, or of each setting':
    /^profiles\..+\.?config\{(key)?\}$|^installation\.changeSetting\.value$/,
}

/** Names that are not judged by what they claim, by why. */
const unjudged: Reasons = {
  'of its owner alone':
    /^(chatFolders|friends)\.|^scheduling\.setWindow\.name$|^passkeys\.|^agents\.(detectApi|.+\[\])\.(apiKey|headers\{\}|name)$/,
  'given by admins': /^agents\.(addEvent|updateEvent)\.|^serviceTokens\.create\.name$/,
  'of a device, beside whose it is': /^deviceKeys\.put\.name$/,
  'behind the name of its sender': /^push\.send\.title$/,
  'told to the operators': /^contact\.write\.name$/,
  'the name of a place': /^rooms\.createLocationRoom\.placeName$/,
}

const fields = [...textFields()].map(([path, kinds]) => ({ path, kinds: [...kinds] }))
const reasonFor = (reasons: Reasons, path: string) => Object.values(reasons).some((paths) => paths.test(path))
const judged: readonly string[] = judgedNames

test('O09: every text that others see is a name, a line or a text', () => {
  const none = fields.filter(({ kinds }) => kinds.includes('none')).map(({ path }) => path)
  expect(none.filter((path) => !reasonFor(unread, path))).toEqual([])
  for (const [why, paths] of Object.entries(unread))
    expect([why, none.some((path) => paths.test(path))]).toEqual([why, true])
  const ofWidgets = Object.entries(widgetKinds).flatMap(([type, { config }]) => fieldsIn(config, type))
  expect(ofWidgets.filter(([, field]) => kindOf(field) === 'none').map(([path]) => path)).toEqual([])
})

test('O09: every name that others see is judged by what it claims', () => {
  const names = fields.filter(({ kinds }) => kinds.includes('name')).map(({ path }) => path)
  expect(names.filter((path) => !judged.includes(path) && !reasonFor(unjudged, path))).toEqual([])
  expect(judged.filter((path) => !names.includes(path))).toEqual([])
  for (const [why, paths] of Object.entries(unjudged))
    expect([why, names.some((path) => paths.test(path) && !judged.includes(path))]).toEqual([why, true])
})

test.each([
  ['none', z.string().max(100)],
  ['none', z.string().trim().min(1)],
  ['none', z.string().regex(/^[^\n]+$/)],
  [
    'none',
    z
      .array(z.string())
      .transform((all) => all.join(' '))
      .or(z.string()),
  ],
  ['text', text(100).nullish()],
  ['line', line(1, 100)],
  ['name', nameLine(1, 100).optional()],
  [null, z.uuid()],
  [null, z.string().regex(/^[a-z]+$/)],
  [null, z.enum(['a', 'b'])],
] as const)('that law sees %s', (kind, field) => expect(kindOf(field)).toBe(kind))
