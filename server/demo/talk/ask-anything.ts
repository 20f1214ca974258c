import type { Dialogue } from '../script.ts'

export const askAnything: readonly Dialogue[] = [
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
