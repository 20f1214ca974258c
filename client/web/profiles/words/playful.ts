import { locale } from '../../texts/language.ts'
import { profileTexts } from '../../texts/profiles.ts'
import { dateOf } from '../clock-times.ts'
import type { Config } from '../config.ts'
import { optionOf, said, type WordsOf } from '../shown.ts'

const t = profileTexts.widgets
const moods: Readonly<Record<string, string>> = profileTexts.moods

const dayMilliseconds = 86_400_000

/** What plays with whoever looks. */
export const playful: WordsOf<'poll' | 'guestbook' | 'reaction_wall' | 'pet' | 'fortune_cookie' | 'random_fact'> = {
  poll: (it) => {
    const options = it.list('options').filter((one) => one.text('text') !== '')
    const votes = options.reduce((sum, one) => sum + (one.number('votes') ?? 0), 0)
    const isCounted = votes > 0 && !it.isOff('showResults')
    const ends = dateOf(it.text('endDate'))
    return {
      sign: '📊',
      title: it.text('question'),
      lines: said(isCounted ? t.votes({ count: votes }) : '', ends && t.until({ date: ends })),
      items: options.map((one) => ({
        title: one.text('text'),
        share: isCounted ? (one.number('votes') ?? 0) / votes : undefined,
      })),
    }
  },
  guestbook: (it) => {
    const items = it
      .list('messages')
      .map((one) => ({ sign: one.text('emoji'), title: one.text('content'), detail: one.text('author') }))
      .filter(({ title }) => title !== '')
    const most = it.number('maxMessages')
    return {
      sign: '📖',
      title: it.text('title') || (items.length > 0 ? t.guestbook : ''),
      items: most === null ? items : items.slice(0, most),
    }
  },
  reaction_wall: (it) => {
    const given = new Map(it.counts('reactions'))
    const signs = [...new Set([...it.texts('allowedEmojis'), ...given.keys()])]
    const chips = signs.map((sign) => (given.has(sign) ? `${sign} ${given.get(sign)?.toLocaleString(locale)}` : sign))
    return { title: chips.length > 0 ? t.reactions : '', chips }
  },
  pet: (it) => {
    const kind = it.text('petType')
    return {
      sign: pets[kind] ?? '🐾',
      title: it.text('name') || optionOf(it, 'petType'),
      lines: said(moods[it.text('mood')] ?? ''),
    }
  },
  fortune_cookie: (it, { now }) => ({
    sign: '🥠',
    title: it.texts('fortunes').length > 0 ? t.fortune : '',
    turns: turnsIn(it, 'fortunes', Math.floor(now / dayMilliseconds), !it.is('showDaily')),
  }),
  random_fact: (it, { now }) => ({
    sign: '💡',
    title: it.text('title') || (it.texts('facts').length > 0 ? t.fact : ''),
    turns: turnsIn(it, 'facts', Math.floor(now / dayMilliseconds), !it.isOff('refreshable')),
  }),
}

function turnsIn(it: Config, field: string, first: number, mayTurn: boolean) {
  const texts = it.texts(field)
  return texts.length === 0 ? undefined : { texts, first: first % texts.length, mayTurn: mayTurn && texts.length > 1 }
}

const pets: Readonly<Record<string, string>> = {
  cat: '🐈',
  dog: '🐕',
  hamster: '🐹',
  bird: '🐦',
  fish: '🐟',
  alien: '👾',
  robot: '🤖',
  ghost: '👻',
}
