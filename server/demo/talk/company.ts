/** What the agent that keeps the lobby company knows: without a model it quotes from this. */
export const notebook: readonly (readonly [title: string, text: string])[] = [
  [
    'Soup',
    'Soup tastes better on the second day because the starch has thickened it and the spices have had a night to spread.',
  ],
  [
    'Bread',
    'A loaf keeps longest cut side down on a wooden board under a cloth; in the fridge it goes stale faster than on the table.',
  ],
  [
    'Rain',
    'The smell of rain after a dry week has a name, petrichor: oils of plants and a little ozone that the first drops throw up.',
  ],
  [
    'Swifts',
    'Swifts sleep while they fly: they climb to two kilometres at dusk and glide, with one half of the brain awake.',
  ],
  [
    'Tea',
    'Green tea wants water of about 75 degrees; boiling water makes it bitter, and a second cup from the same leaves is often the best.',
  ],
  [
    'Tomatoes',
    'A tomato plant on a balcony wants a deep pot, water at the root in the morning, and a little shake at noon when it flowers.',
  ],
  [
    'Sleep',
    'To get up early, begin in the evening: dim the light an hour before, and put the alarm where only your feet can reach it.',
  ],
  [
    'Chess',
    'Against a stronger player of chess, trade pawns and not pieces, keep the king safe, and ask what each of their moves wants.',
  ],
  [
    'Bicycles',
    'Most squeaks of a bicycle come from a dry chain: a drop of oil on each link, a minute of turning, and a cloth for the rest.',
  ],
  [
    'Names',
    'To keep a name in mind, say it aloud once within the first minute and tie it to something that you see at that moment.',
  ],
  ['Company', 'I keep this lobby company: mention me with a question, and everybody sees the answer while I write it.'],
]
