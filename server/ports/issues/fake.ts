import { AppError } from '#shared/errors'
import { type Issue, type Issues, issuesOfAPage } from './port.ts'

interface FakeIssues extends Issues {
  /** What was written under issues, in order. */
  comments: { number: number; text: string }[]
  /** The bodies of issues, by their numbers. */
  bodies: Map<number, string>
  /** The way in which it fails to answer, or the status by which it refuses; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | number | null
}

/** A repository in memory. */
export function fakeIssues(): FakeIssues {
  const known: Issue[] = []
  const refuse = () => {
    if (typeof fake.away === 'number') throw new AppError('UPSTREAM_ERROR', { status: fake.away })
    if (fake.away) throw new AppError(fake.away)
  }
  const found = (number: number) => {
    const issue = known.find((one) => one.number === number)
    if (!issue) throw new AppError('UPSTREAM_ERROR', { status: 404 })
    return issue
  }
  const fake: FakeIssues = {
    comments: [],
    bodies: new Map(),
    away: null,
    async create({ title, body, labels }) {
      refuse()
      const number = known.length + 1
      const issue: Issue = {
        ...{ id: 1_000 + number, number, url: `https://code.test/plaza/issues/${number}`, title },
        ...{ state: 'open', labels: [...labels], created_at: new Date(0).toISOString() },
      }
      known.push(issue)
      fake.bodies.set(number, body)
      return { ...issue }
    },
    async list(state, page) {
      refuse()
      const wanted = known.filter((issue) => state === 'all' || issue.state === state).reverse()
      return wanted.slice((page - 1) * issuesOfAPage, page * issuesOfAPage)
    },
    async read(number) {
      refuse()
      return known.find((one) => one.number === number) ?? null
    },
    async comment(number, text) {
      refuse()
      fake.comments.push({ number: found(number).number, text })
    },
    async close(number) {
      refuse()
      return { ...Object.assign(found(number), { state: 'closed' as const }) }
    },
  }
  return fake
}
