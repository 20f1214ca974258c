import { GLOBAL, verifyChain } from '#server/log/index'
import type { Fact, RoomKey, Row } from '#server/log/types'
import { projection } from '#test/log/chat'
import type { Cluster } from './cluster.ts'
import type { Answer, History } from './history.ts'
import type { People } from './people.ts'

/** The values a fact had, each from the time its row was committed. */
type Course = { seq: number; from: number; value: Fact }[]

/** What is wrong with a run: each fault and how often; empty when nothing is. */
export function check(cluster: Cluster, people: People, history: History): Record<string, number> {
  const faults: Record<string, number> = {}
  const note = (fault: string) => {
    faults[fault] = (faults[fault] ?? 0) + 1
  }
  for (const fault of history.faults) note(fault)
  const courses = new Map<string, Course>()
  for (const room of [...people.rooms, GLOBAL]) {
    const log = cluster.memory.log(room)
    const facts = checkLog(log, cluster, courses, note)
    checkRecords(room, facts, cluster, note)
    checkReaders(room, log, courses, people, note)
  }
  for (const answer of history.answers) checkAnswer(answer, cluster, courses, note)
  checkSuspensions(cluster, people, history, note)
  return faults
}

type Note = (fault: string) => void

function checkLog(log: readonly Row[], cluster: Cluster, courses: Map<string, Course>, note: Note): Map<string, Fact> {
  const facts = new Map<string, Fact>()
  const keys = new Set<string>()
  let [total, at] = [0, 0]
  if (verifyChain(log, '')) note('the chain does not verify')
  for (const [index, row] of log.entries()) {
    const is = (fact: string) => (facts.get(`${fact}:${row.sender}`) ?? null) !== null
    if (row.seq !== index + 1 || row.epoch !== log[0]?.epoch) note('seq is not dense')
    if (row.at < at) note('time ran back')
    if (keys.has(`${row.sender} ${row.cid}`)) note('stored twice')
    if (row.type === 'message' && ++total !== row.n) note('wrong ordinal')
    if (row.total !== total) note('wrong total')
    if (row.type === 'message' || row.type === 'edit') {
      if (is('ban')) note('a banned one wrote')
      if (!is('member')) note('an outsider wrote')
    }
    const [slow, last] = [facts.get('slow'), facts.get(`last:${row.sender}`)]
    if (row.type === 'message' && typeof slow === 'number' && typeof last === 'number' && row.at - last < slow)
      note('slow mode broken')
    if (row.type === 'ban' && (facts.get(`ban:${row.target}`) ?? null) !== null) note('banned twice')
    keys.add(`${row.sender} ${row.cid}`)
    at = row.at
    for (const change of projection.changes(row)) {
      const value = 'value' in change ? change.value : change.patch(facts.get(change.key) ?? null)
      facts.set(change.key, value)
      const course = courses.get(`${row.room} ${change.key}`) ?? []
      course.push({ seq: row.seq, from: cluster.committedAt.get(row._id) ?? 0, value })
      courses.set(`${row.room} ${change.key}`, course)
      if (row.type === 'edit' && !`${row.body.text}`.endsWith(` ${versionOf(value)}`))
        note('edited twice from one version')
    }
  }
  return facts
}

function checkRecords(room: RoomKey, facts: Map<string, Fact>, { kept }: Cluster, note: Note): void {
  for (const [key, value] of facts) {
    if (key.startsWith('last:')) continue
    const record = kept.records.get(`${room} ${key}`)
    if (JSON.stringify(record?.value ?? null) !== JSON.stringify(value)) note('a record differs from the log')
  }
}

function checkReaders(
  room: RoomKey,
  log: readonly Row[],
  courses: Map<string, Course>,
  people: People,
  note: Note,
): void {
  for (const reader of people.readers.filter((each) => each.room === room)) {
    for (const fault of reader.faults) note(fault.replaceAll(/\d+/g, '…'))
    for (const [index, row] of reader.shown.entries())
      if (row._id !== log[index]?._id) note('a reader was shown another log')
    for (const row of reader.live) {
      const course = courses.get(`${room} member:${reader.user}`) ?? []
      if ((course.findLast(({ seq }) => seq < row.seq)?.value ?? null) === null) note('an outsider was shown a row')
    }
  }
}

/** Acknowledged rows are there; a refusal or an "already so" was true at some moment between question and answer. */
function checkAnswer(
  { room, act, began, ended, outcome, code, isSure }: Answer,
  { memory }: Cluster,
  courses: Map<string, Course>,
  note: Note,
): void {
  const row = outcome?.row
  if (row) {
    const stored = memory.log(room)[row.seq - 1]
    if (stored?._id !== row._id || row.sender !== act.sender || row.cid !== act.cid) note('acknowledged and not there')
    return
  }
  if (isSure && outcome === null && act.cid && memory.byCid(room, act.sender, act.cid)) note('refused and yet stored')
  const was = (key: string, is: (value: Fact) => boolean) => hadValue(courses.get(key) ?? [], began, ended, is)
  const isSet = (value: Fact) => value !== null
  const isNone = (value: Fact) => value === null
  if (code === 'BANNED' && !was(`${room} ban:${act.sender}`, isSet)) note('a stale refusal: BANNED')
  if (code === 'NOT_A_MEMBER' && !was(`${room} member:${act.sender}`, isNone)) note('a stale refusal: NOT_A_MEMBER')
  if (code === 'SUSPENDED' && !was(`${GLOBAL} suspended:${act.sender}`, isSet)) note('a stale refusal: SUSPENDED')
  if (code === 'SLOW_MODE' && !was(`${room} slow`, (value) => typeof value === 'number' && value > 0))
    note('a stale refusal: SLOW_MODE')
}

/** After the ack of a suspension that every node confirmed, no row of the suspended one is committed anywhere. */
function checkSuspensions(cluster: Cluster, people: People, history: History, note: Note): void {
  for (const { outcome, ended } of history.answers) {
    if (!outcome?.row || outcome.pendingNodes > 0 || outcome.row.type !== 'suspend') continue
    const { target, seq } = outcome.row
    const lifted = cluster.memory
      .log(GLOBAL)
      .find((row) => row.seq > seq && row.type === 'unsuspend' && row.target === target)
    const end = (lifted && cluster.committedAt.get(lifted._id)) ?? Number.POSITIVE_INFINITY
    for (const room of people.rooms) {
      for (const row of cluster.memory.log(room)) {
        const at = cluster.committedAt.get(row._id) ?? 0
        const isActing = row.type === 'message' || row.type === 'edit'
        if (row.sender === target && isActing && at > ended && at < end) note('a suspended one wrote after the ack')
      }
    }
  }
}

function hadValue(course: Course, from: number, to: number, is: (value: Fact) => boolean): boolean {
  const before = course.findLast((step) => step.from <= from)
  return is(before?.value ?? null) || course.some((step) => step.from > from && step.from <= to && is(step.value))
}

function versionOf(value: Fact): Fact {
  return value && typeof value === 'object' && 'version' in value ? (value.version ?? null) : null
}
