import type { Dialogue } from '../script.ts'

export const slowLane: readonly Dialogue[] = [
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
