import type { Dialogue } from '../script.ts'

export const showAndTell: readonly Dialogue[] = [
  [
    'a Third attempt at the {walnut|oak|cherry} box. The lid fits now, and it makes that soft sound when it closes ~ 👏 ❤️',
    'b> That sound is the whole reason to make boxes',
    'c What did you finish it with?',
    'a> Just oil and patience. Mostly patience',
  ],
  [
    'a I made a tiny weather station that only says "coat" or "no coat" ~ 😂 🔥',
    'b> I would buy this',
    'c What happens in between?',
    'a There is no in between. That is the feature',
  ],
  [
    'a Finished the scarf. It is {two|three} metres long because I did not want to stop',
    'b> A scarf for two people, very practical ~ 😄',
    'c What stitch is that? It looks like little waves',
    'a It is called feather and fan. Easier than it looks, I promise',
  ],
  [
    'a I have been drawing one door a day on my way to work. Day {forty|sixty|ninety} today ~ 🚪 ❤️',
    'b What makes a good door?',
    'a> A bad letterbox. It gives them a face',
    'c I will never not see that now',
  ],
  [
    'a The old radio works again! It was one capacitor, and a spider ~ 🎉',
    'b> Please tell me the spider is fine',
    'a Relocated to the shed, in good health',
    'c What is the first thing you heard on it?',
    'a A football match from {Porto|Lyon|Bergen}. I do not even like football, I listened to all of it',
  ],
  [
    'a Bread number {twelve|twenty}. The crust sings when it cools, listen closely ~ 🍞',
    'b> How wet is your dough? Mine never opens like that',
    'a Three quarters water to flour. Then I leave it alone for much longer than feels right',
    'b Leaving things alone is where I go wrong',
  ],
  [
    'a I wrote a program that tells me which of my plants I forgot. It is angry at me in {haiku|rhyme}',
    'b> Example, please',
    'a "The fern on the sill / remembers April showers / you remember not" ~ 😂 👏',
    'c I feel attacked by your fern',
  ],
  [
    'a Restored a {1960s|1970s} camera. First roll came back today: {eleven|seven} good ones out of thirty-six',
    'b That is a very good first roll',
    'c> What is on the best one?',
    'a My father, not noticing. I never get him not noticing ~ ❤️',
  ],
  [
    'a Half-finished: a quilt from shirts that do not fit anybody any more',
    'b> The blue part in the middle is wonderful',
    'a That was my first work uniform. It deserves a second life',
    'c You could sign the corner. Somebody will ask in fifty years ~ 👍',
  ],
  [
    'a I built the shelf. It is level. I checked it with {a marble|three different phones} ~ 🎉',
    'b> And the wall?',
    'a The wall is not level. The shelf is right and the house is wrong ~ 😂',
  ],
  [
    'a Learned to fold a paper crane for my niece and now there are {thirty|sixty} of them on the table',
    'b You are most of the way to a thousand and a wish',
    'a> She already used the wish in advance. It was a dog',
    'c Fair ~ 🐕 😄',
  ],
]
