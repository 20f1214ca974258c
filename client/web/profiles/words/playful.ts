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
    const ends = dateOf(it.text('endDate'))
    return { sign: '📊', title: it.text('question'), lines: said(ends && t.until({ date: ends })) }
  },
  guestbook: (it) => ({ sign: '📖', title: it.text('title') || t.guestbook }),
  reaction_wall: (it) => ({ title: it.texts('allowedEmojis').length > 0 ? t.reactions : '' }),
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
