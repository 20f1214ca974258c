import { appendFileSync } from 'node:fs'
import { bound } from '#server/domains/index'
import type { Bound } from '#server/kernel/context'

/** The limit for one operation in rooms of one kind; longer exchanges are no examples. */
const most = 60
const mostCharacters = 20_000

/** Writes down what operations are asked in this process, and what they answer, for `scripts/examples.ts` to choose from. */
export function noteExchanges(): void {
  const file = process.env.PLAZA_TEST_EXCHANGES
  if (file) for (const one of bound) if (!watched.has(one)) watch(one, file)
}

const watched = new WeakSet<Bound>()

function watch(one: Bound, file: string): void {
  const { name, operation, action } = one
  const noted = new Map<string, number>()
  const note = (input: unknown, answer: unknown) => {
    const output = operation.output.safeParse(answer)
    const { room } = input as { room?: { type?: string } }
    const already = noted.get(`${room?.type}`) ?? 0
    if (!output.success || already >= most) return
    const line = JSON.stringify({ name, at: Date.now(), input, output: output.data })
    if (line.length > mostCharacters) return
    noted.set(`${room?.type}`, already + 1)
    appendFileSync(file, `${line}\n`)
  }
  async function* noting(input: unknown, items: AsyncIterable<unknown>) {
    for await (const item of items) {
      note(input, item)
      yield item
    }
  }
  watched.add(one)
  one.action = async (input, context) => {
    const answer = await action(input, context)
    if (operation.stream) return noting(input, answer as AsyncIterable<unknown>)
    note(input, answer)
    return answer
  }
}
