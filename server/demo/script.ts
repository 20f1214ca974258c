import { randomInt } from 'node:crypto'

type Role = 'a' | 'b' | 'c' | 'd'

/**
 * One line of a dialogue: the speaker, `>` if it answers the line before, and the text. In the text `{one|other}` is a
 * choice, ` ^ ` precedes its correction, and ` ~ ` the reactions of others.
 */
export type Line = `${Role}${'' | '>'} ${string}`
export type Dialogue = readonly Line[]

export interface ScriptedLine {
  role: number
  isReply: boolean
  text: string
  corrected: string | null
  reactions: readonly string[]
}

export function readLine(line: Line, choose: (count: number) => number = randomInt): ScriptedLine {
  const [head = '', ...words] = line.split(' ')
  const [spoken = '', reactions = ''] = words.join(' ').split(' ~ ')
  const [text = '', corrected] = spoken
    .replace(/\{([^}]*)\}/g, (_, options: string) => oneOf(options.split('|'), choose))
    .split(' ^ ')
  return {
    role: 'abcd'.indexOf(head.charAt(0)),
    isReply: head.endsWith('>'),
    text,
    corrected: corrected ?? null,
    reactions: reactions.split(' ').filter((emoji) => emoji !== ''),
  }
}

export const oneOf = <T>(options: readonly T[], choose: (count: number) => number = randomInt): T =>
  options[choose(options.length)] as T

export function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, place: randomInt(2 ** 32) }))
  return order.sort((one, other) => one.place - other.place).map(({ item }) => item)
}
