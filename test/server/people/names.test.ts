// Modes: embedded
import { expect, test } from 'vitest'
import { fakeVideo } from '#server/ports/video/fake'
import { bootWith } from '#test/support/boot-with'

const { owner } = await bootWith(['owner'], { services: { video: fakeVideo() } })

const doors: readonly (readonly [call: string, field: string, more: object])[] = [
  ['PATCH /api/user/profile', 'display_name', {}],
  ['POST /api/channels', 'name', {}],
  ['POST /api/groups', 'name', { memberAddresses: [] }],
  ['POST /api/streams', 'title', {}],
  ['POST /api/agents', 'name', { personality: 'kind' }],
]

test.each(doors)(
  'N21: %s takes a %s as its script writes it, and says why it takes another not',
  async (call, field, more) => {
    const named = (name: string) => owner.rest(call, { ...more, [field]: name })
    const taken = ['علی\u200cرضا', 'ශ්\u200dරී ලංකා', 'שַּׁבָּת', 'Ann 👩🏽\u200d🚀', 'Ann 🏴󠁧󠁢󠁥󠁮󠁧󠁿']
    for (const name of taken) expect(await named(name)).toMatchObject({ status: 200 })
    for (const [name, why] of [
      ['Ann\u200dB', 'a character that is not seen'],
      ['Ann ✅', 'a sign that passes for a badge'],
      ['a\u0301\u0302\u0303', 'marks on a letter'],
      ['Plaza Support', 'reads as the name of this service'],
    ] as const) {
      const { status, body } = await named(name)
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(why)])
    }
  },
)
