import { demoChannels } from '#server/domains/rooms/room-state/demo-rooms'
import type { RulesPatch } from '#shared/api/moderation/verdict'
import type { RoomRef } from '#shared/kit/primitives'
import type { Dialogue } from './script.ts'
import { lobby } from './talk/lobby.ts'

const askAnything: readonly Dialogue[] = [
  [
    'a Why does bread go hard and biscuits go soft? Same kitchen, same shelf',
    'b> Water moves to where there is less of it. Bread has more than the air, biscuits have less ~ 💡',
    'a So they meet in the middle',
    'b> Given long enough, everything on that shelf is the same sad thing',
  ],
  [
    'a How do you remember people’s names? I lose them the second they are said',
    'b Say it back once. "Good to meet you, {Ana|Omar|Ruth}." It works because you had to listen',
    'c> And if it is gone anyway, just ask. Nobody has ever minded',
    'a Thank you both. I will try it {tonight|tomorrow} ~ 🙏',
  ],
  [
    'a What is a good first plant for somebody who has never kept one alive?',
    'b A spider plant. It tells you when it is thirsty and forgives you afterwards',
    'c> Or mint, if you have a window. You cannot stop mint ~ 🌱',
    'a Mint it is. I like a plant with ambition',
  ],
  [
    'a Is it true that you can hear how cold it is from crickets?',
    'b> More or less! The warmer it is, the faster they go',
    'c Count the chirps in {eight|fifteen} seconds and you have an idea ^ Count the chirps for a quarter of a minute and you have a fair idea ~ 🦗',
    'a I have learned a thing today. Thank you',
  ],
  [
    'a When do you start over, and when do you repair? Asking about a {jumper|bicycle|sentence}',
    'b I repair until the repairs are more than the thing',
    'c> I start over when I catch myself explaining it to visitors ~ 😄',
    'a That is a surprisingly useful test',
  ],
  [
    'a Why is the sea salty and the lakes are not?',
    'b> Rivers bring a little salt from the rocks all the time. From a lake it flows on, from the sea only the water leaves',
    'a By evaporating?',
    'b> Exactly. The sea is the end of the line ~ 💡 👏',
  ],
  [
    'a What do you say to somebody who has had bad news? I never find the words',
    'b "I am sorry, I am here." Then be there',
    'c> Bring food that can go in the freezer ~ ❤️',
    'a That helps. Both of those',
  ],
  [
    'a How long does it take to learn an instrument well enough to enjoy it?',
    'b Three songs. After three songs I was having fun',
    'c> Ukulele: a weekend. Violin: ask your neighbours ~ 😂',
    'a I do like my neighbours, so ukulele',
  ],
  [
    'a Can anyone explain why the moon looks so big near the horizon?',
    'b> It is not bigger, you only think so. Hold a coin at arm’s length and compare, then again when it is high',
    'a I do not want to believe that',
    'c Nobody does, and we have all tried the coin ~ 🌕',
  ],
  [
    'a What is the kindest way to leave a party early?',
    'b Thank the host, nobody else, and go. Goodbyes are contagious',
    'c> In my family a goodbye takes {forty|ninety} minutes, so we start on arrival ~ 😂',
  ],
  [
    'a Do cats know their names?',
    'b They do. Studies say so',
    'c> They know. They have simply looked at your proposal and declined ~ 😹 😂',
    'a That matches my own data',
  ],
  [
    'a What would you tell somebody who speaks in front of people for the first time {tomorrow|on Monday}?',
    'b Know the first sentence by heart. Only the first one',
    'c> And the last one! The middle looks after itself',
    'a Writing both of them down now. My hands are already cold ~ 🍀 ❤️',
    'b> Cold hands are fine, nobody can see them',
  ],
]

const noLinks: readonly Dialogue[] = [
  [
    'a Wanted to share an article about lighthouses, and this room would not take the link ~ 😄',
    'b> That is the idea. Tell us what it said instead',
    'a Each one had its own rhythm of light, so a sailor could tell them apart like voices',
    'c Now I am glad I did not just get a link ~ ❤️',
  ],
  [
    'a Has anyone read a book this year that they could not put down?',
    'b A novel about a {ferry|post office|mountain hut}, nothing happens in it, I read it in two nights',
    'c> Nothing happens is my favourite kind of plot',
    'a Same. Give me weather and people who do not say what they mean ~ 📖',
  ],
  [
    'a The library has started lending {tools|seeds|telescopes} as well as books',
    'b> Ours lends umbrellas. They get more of them back than you would think',
    'c A library card is the best thing in my wallet ~ ❤️',
  ],
  [
    'a Do you finish books you do not like?',
    'b Not any more. {Fifty|Thirty} pages, then it goes to somebody else',
    'c> I always finish. What if it gets good on the last page?',
    'b Has it, ever?',
    'c> Once ~ 😂',
  ],
  [
    'a Last line of the book I finished today: no spoilers, but I read it {three|four} times',
    'b> Title? I promise not to look at the end first',
    'a You do look at the end first, I remember',
    'b I have changed ~ 😇 😂',
  ],
  [
    'a Reading aloud to each other: nice, or only nice in films?',
    'b Nice! We do one chapter while the other one cooks',
    'c> And who decides what to read?',
    'b Whoever washes up ~ 👍',
  ],
  [
    'a I found my own handwriting in a second-hand book. I had sold it {ten|twenty} years ago',
    'b> And bought it back?',
    'a Of course. It came home ~ ❤️ 📚',
    'c What had you written?',
    'a> "Buy milk"',
  ],
  [
    'a What do you read when you cannot sleep?',
    'b Recipes. Nothing bad ever happens in a recipe',
    'c> Timetables of trains that no longer run',
    'a Those are both better than my phone, thank you ~ 🌙',
  ],
]

const showAndTell: readonly Dialogue[] = [
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

const slowLane: readonly Dialogue[] = [
  [
    'a Ten seconds between messages. I have already deleted two things I did not need to say ~ 😄',
    'b> It is like writing letters to people who sit at the same table',
    'c I find I read everything twice here. That is new',
    'd Slow is smooth ~ 🐢',
  ],
  [
    'a A question for a slow room: what did you change your mind about lately?',
    'b {Mushrooms|Mornings|Opera}. I was wrong for thirty years',
    'c That I have to answer at once. Most things can wait for a cup of tea ~ 🍵 ❤️',
    'd> Says the fastest typist I know',
  ],
  [
    'a Describe where you are in one sentence',
    'b A kitchen table, two cups, one of them from yesterday',
    'c A train by a {lake|river}, facing backwards',
    'd> Facing backwards you see everything for longer ~ ❤️',
  ],
  [
    'a What is the best thing that took you a long time?',
    'b The garden wall. {Two|Four} summers, one stone at a time ~ 👏',
    'c> Learning to say no without a reason',
    'd Friendship with my brother',
  ],
  [
    'a Today I walked {five|eight} kilometres and the only plan was to turn left whenever I could',
    'b> You went in a circle',
    'c But a very well informed circle ~ 😂',
    'd I will try it with right turns and report back',
  ],
  [
    'a What did the place you grew up in smell of?',
    'b {Pine|Salt|Diesel} and warm stone',
    'c> Laundry on a line. To this day, anywhere, I am seven again ~ ❤️',
    'd The river, after rain',
  ],
  [
    'a If you could have one quiet hour anywhere, where would it be?',
    'b The reading room, third desk, by the radiator',
    'c A rowing boat in the middle of the {lake|bay}, with nobody rowing ~ 🚣',
    'd> I would be the one not rowing',
  ],
]

export interface Stage {
  room: RoomRef
  /** What the room is, where it is not there without the demo. */
  channel: { slug: string; name: string; description: string; emoji: string; category: string } | null
  rules: RulesPatch
  pinned: string
  polls: readonly { question: string; options: readonly string[] }[]
  dialogues: readonly Dialogue[]
  /** How many of them have been spoken before anybody comes. */
  spoken: number
  /** A message that waits for the moderators from the start. */
  flagged?: { word: string; text: string; sender: string }
  /** How long the room rests between two lines. */
  restSeconds: number
}

const channel = (place: number): RoomRef => ({ type: 'channel', id: demoChannels[place - 1] ?? null })

export const stages: readonly Stage[] = [
  {
    room: { type: 'alpha', id: null },
    channel: null,
    rules: {
      rules_text: 'Be kind, be curious, and say hello. The others here are scripted, so nobody will mind a test.',
    },
    pinned:
      'Welcome! This is the lobby of the demo: everybody who signs in is here, and those with a script never sleep.',
    polls: [
      { question: 'What keeps you company while you work?', options: ['Music', 'A podcast', 'The street', 'Silence'] },
    ],
    dialogues: lobby,
    spoken: 5,
    restSeconds: 0,
  },
  {
    room: channel(1),
    channel: {
      slug: 'show-and-tell',
      name: 'Show and tell',
      description: 'Bring something you made, found or finally fixed.',
      emoji: '🎨',
      category: 'creative',
    },
    rules: { rules_text: 'Show your own things. Ask before you give advice.' },
    pinned: 'Half-finished is welcome here. Tell us what it is, and what you are stuck on.',
    polls: [{ question: 'Theme for Sunday?', options: ['Something blue', 'A repair', 'Ten minutes only', 'A gift'] }],
    dialogues: showAndTell,
    spoken: 2,
    restSeconds: 0,
  },
  {
    room: channel(2),
    channel: {
      slug: 'ask-anything',
      name: 'Ask anything',
      description: 'No question is too small. Answers come with reasons.',
      emoji: '💡',
      category: 'general',
    },
    rules: { rules_text: 'Every question is a good one. If you do not know, say so.' },
    pinned: 'Before you ask: what did you try, and what happened instead? That gets you the best answers.',
    polls: [],
    flagged: {
      word: 'spare tickets',
      text: 'I have two spare tickets for Saturday and cannot go. Is it all right to pass them on in here?',
      sender: 'demo:sam',
    },
    dialogues: askAnything,
    spoken: 2,
    restSeconds: 0,
  },
  {
    room: channel(3),
    channel: {
      slug: 'no-links',
      name: 'No links please',
      description: 'Talk about what you read without linking to it. Try one, and see why it is refused.',
      emoji: '📚',
      category: 'general',
    },
    rules: { links_allowed: 'disabled', rules_text: 'Titles and names, no links. The room says so when you try.' },
    pinned: 'Links are switched off in this room. Tell us the title and why it stayed with you.',
    polls: [],
    dialogues: noLinks,
    spoken: 2,
    restSeconds: 0,
  },
  {
    room: channel(4),
    channel: {
      slug: 'slow-lane',
      name: 'Slow lane',
      description: 'One message every ten seconds. It changes how people talk.',
      emoji: '🐢',
      category: 'general',
    },
    rules: { slow_mode_seconds: 10, rules_text: 'Ten seconds between two messages of yours. Take your time.' },
    pinned: 'Slow mode is on: ten seconds between two messages. The box tells you when it is your turn again.',
    polls: [],
    dialogues: slowLane,
    spoken: 2,
    restSeconds: 11,
  },
]
