import type { Dialogue } from '../script.ts'

export const noLinks: readonly Dialogue[] = [
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
