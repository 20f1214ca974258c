// Modes: embedded
import { expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { bootWith } from '#test/support/boot-with'
import { channelOf, moderates, over, say } from '#test/support/people'

const { owner, member } = await bootWith(['owner', 'member'])
const room = await channelOf(owner, member)
const elsewhere = await channelOf(owner, member)
await moderates(owner, { room, action: 'rules', patch: { rules: { links_allowed: 'disabled' } } })
const { id } = await say(member, room, 'hello')

const linking = [
  '[prize](https\\://evil\\.zip)',
  '[prize](http:evil.zip)',
  '[prize](//evil.zip)',
  '[prize](\\\\\\\\evil.zip)',
  '[prize](<\\\\\\\\evil.zip>)',
  '[prize](/\\\\evil.zip)',
  '[prize](&bsol;&bsol;evil.zip)',
  '[prize](https:evil)',
  '[prize](https&colon;//evil.zip)',
  '[prize](&#104;ttps&#58;&sol;&sol;evil&period;zip)',
  '![prize](https\\://evil.zip)',
  '> - **[prize](<https\\://evil.zip> "title")**',
  '# [prize](https\\://evil.zip)',
  '| a |\n|---|\n| [prize](https\\://evil.zip) |',
  '[prize]: https\\://evil.zip\n\n[prize]',
  'https:\\/\\/evil.zip',
  'http:evil.zip',
  'http:\\\\evil.zip',
  'evil\\.com',
  '<https\\://evil.zip>',
  'ev**il**.com',
  'https:**//evil.zip**',
  '`https://evil.zip`',
  '@[evil\\.com](x)',
  'https&colon;//evil.zip',
  'evil<!-- -->.com',
]
test.each(linking)('N20: where links are disabled, none is read out of %j', async (text) => {
  for (const door of over) {
    const asked = { room, text }
    const { verdict } = await member.does(door, messages.check, asked)
    expect(verdict).toMatchObject({ ok: false, step: 'links', code: 'LINKS_NOT_ALLOWED' })
    expect(await member.refused(door, messages.send, asked)).toMatchObject({ code: 'LINKS_NOT_ALLOWED', verdict })
    expect(await member.refused(door, messages.edit, { ...asked, id })).toMatchObject({ code: 'LINKS_NOT_ALLOWED' })
    const poll = { room, question: 'Which?', options: [text, 'none'] }
    if (text.includes('\n')) continue
    expect(await member.refused(door, polls.create, poll)).toMatchObject({ code: 'LINKS_NOT_ALLOWED' })
  }
  await say(member, elsewhere, text)
})

test.each([
  '**bold** and *thin* [x] (y)',
  '[x](y)',
  'a[i](b) & c[j](d)',
  'http: is a protocol',
  '[mail](mailto:)',
  '1\\. one',
  'Wait\\. What?',
])('N20: no link is read into %j', async (text) => {
  for (const door of over) await member.does(door, messages.send, { room, text })
})

const deep = 10_000
test.each([
  ['brackets', '['.repeat(deep)],
  ['brackets on lines', '[\n'.repeat(deep / 2)],
  ['emphasis', '**a '.repeat(deep / 4)],
  ['stars', `${'*'.repeat(deep / 2 - 1)}a${'*'.repeat(deep / 2)}`],
  ['strokes', '~~a '.repeat(deep / 4)],
  ['quotes', '>'.repeat(deep)],
  ['quotes with blanks', '> '.repeat(deep / 2)],
  ['lists', '- '.repeat(deep / 2)],
  ['numbers', '1. '.repeat(deep / 3)],
])('N20: what is nested too deep to be read is refused alike over both doors: %s', async (_title, text) => {
  const asked = { room: elsewhere, text: text.slice(0, deep) }
  for (const door of over) {
    const tooComplex = { code: 'TEXT_TOO_COMPLEX', status: 400 }
    expect(await member.refused(door, messages.send, asked)).toMatchObject(tooComplex)
    expect((await member.does(door, messages.check, asked)).verdict).toMatchObject(tooComplex)
  }
})

test('N20: long code, lists, lines and rules are read as they were', async () => {
  const long = ['arr[i][j] = *p + snake_case;\n', '- item\n', 'word\n', '[1,2],[3,4],\n', '**bold** ', 'int *a, *b;\n']
  for (const line of [...long, '-', '*', '=', '_'])
    await say(member, elsewhere, line.repeat(Math.floor((line.length === 1 ? 200 : 4_000) / line.length)))
})

await moderates(owner, { room: elsewhere, action: 'word_add', patch: { word: 'zorkblat' } })
await moderates(owner, { room: elsewhere, action: 'word_add', patch: { word: 'quux\\d', is_regex: true } })
const wordy = [
  'z**ork**blat',
  'z[ork](..)blat',
  'z[ork](https://a.example)blat',
  'zork~~blat~~',
  'zork`blat`',
  '> - z***ork***blat',
  'zork<!-- -->blat',
  'zork<b></b>blat',
  'z&#111;rkblat',
  'z&#x6f;rkblat',
  'quu*x1*',
  'quu**x**7',
  '@[zork](x)blat',
]
test.each(wordy)('N27: a blocked word is read out of %j', async (text) => {
  for (const door of over) {
    const asked = { room: elsewhere, text }
    expect((await member.does(door, messages.check, asked)).verdict).toMatchObject({ code: 'BLOCKED_WORD' })
    expect(await member.refused(door, messages.send, asked)).toMatchObject({ code: 'BLOCKED_WORD' })
    const poll = { room: elsewhere, question: text, options: ['one', 'two'] }
    expect(await member.refused(door, polls.create, poll)).toMatchObject({ code: 'BLOCKED_WORD' })
  }
})

test('N27: a word that formatting parts is none', async () => {
  for (const text of ['zork **blat**', 'zork\n\nblat', '- zork\n- blat', '`zork` blat'])
    await say(member, elsewhere, text)
})
