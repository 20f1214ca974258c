// Modes: embedded
import { expect, test } from 'vitest'
import { rooms } from '#shared/api/rooms/rooms'
import { bootWith } from '#test/support/boot-with'
import { channelOf, outcomeOf } from '#test/support/people'

const { admin, owner } = await bootWith(['admin', 'owner'], { admins: ['admin'] })
let named = 0
const name = () => `Kite ${++named}`

const noEmoji = [
  '✅',
  '✔️',
  '☑',
  '✓ Plaza staff',
  '⭐ADMIN',
  '⭐⭐',
  'a',
  '1',
  '\u202e',
  '😀\u202e',
  '\n',
  '😀 x',
  '',
  '\u200b',
]
const noCategory = ['Official Plaza', 'Plaza staff', '✓ art', 'a\u202eb', 'a\nb', '\u200b', '']

test.each([
  ['emoji', noEmoji, ['😀', '👩‍👩‍👧‍👦', '🇺🇸', '❤️', '👍🏽', '🗝', ' 🪁 ']],
  ['category', noCategory, ['art', 'Kites and wind', 'Hilfe', ' 音楽 ']],
] as const)(
  'O09: the %s of a room claims nothing and holds nothing that is not seen',
  async (field, refused, taken) => {
    const room = await channelOf(owner)
    const outcomes = async (value: string) => [
      outcomeOf(await owner.tries('rest', rooms.createChannel, { name: name(), [field]: value })),
      outcomeOf(await owner.tries('rest', rooms.update, { room, [field]: value })),
    ]
    const invalid = '400 VALIDATION_ERROR'
    for (const value of refused) expect([value, ...(await outcomes(value))]).toEqual([value, invalid, invalid])
    for (const value of taken) {
      expect([value, ...(await outcomes(value))]).toEqual([value, '200', '200'])
      expect((await owner.does('rest', rooms.get, { room })).room[field]).toBe(value.trim())
    }
  },
)

test('O09: admins alone name a category as the service is named', async () => {
  const category = 'Official Plaza'
  const { channel } = await admin.does('rest', rooms.createChannel, { name: name(), category })
  expect(channel.category).toBe(category)
  const refused = await owner.refused('rest', rooms.createChannel, { name: name(), category })
  expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('category') })
})
