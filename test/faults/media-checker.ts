import { type FaultName, type Finding, grouped } from './checker.ts'
import type { Entry } from './history.ts'
import type { StoredMedia } from './stored-media.ts'

/** Checks what uploaders and attenders were told against what is stored after all faults have ended. */
export function checkMedia(history: readonly Entry[], media: StoredMedia): Finding[] {
  const findings: Finding[] = []
  const note = (room: string) => (fault: FaultName, what: string) => void findings.push({ fault, room, what })
  checkUploads(history, media, note('uploads'))
  checkBlobs(media, note('storage'))
  checkEntries(history, media, note('attendance'))
  return findings
}

type Note = (fault: FaultName, what: string) => void

const of = <Op extends Entry['op']>(history: readonly Entry[], op: Op) =>
  history.filter((entry): entry is Extract<Entry, { op: Op }> => entry.op === op)

/** Checks that what was acknowledged is there, whole and once, and that no message names what is not. */
function checkUploads(history: readonly Entry[], { blobs, texts }: StoredMedia, note: Note): void {
  const at = (url: string) => [...blobs].find(([key]) => url.endsWith(`/${key}`))?.[1]
  for (const [key, tries] of grouped(of(history, 'upload'), (entry) => entry.key)) {
    const urls = new Set(tries.flatMap(({ url }) => url ?? []))
    if (urls.size > 1) note('duplicated', `${key} is ${urls.size} files`)
    for (const { type, url = '', sha256, outcome } of tries) {
      if (type === 'fail') note('wrongly refused', `${key}: ${outcome}`)
      if (type !== 'ok') continue
      if (!at(url)) note('lost', `${key} was stored as ${url}, which is not there`)
      else if (at(url)?.sha256 !== sha256) note('contradicted', `${key} is stored otherwise than it was sent`)
    }
  }
  for (const { type, url } of of(history, 'name')) {
    if (type === 'fail') note('wrongly refused', `a message with ${url}`)
    else if (!texts.some((text) => text.endsWith(url))) note('lost', `the message with ${url}`)
  }
  for (const text of texts) if (!at(text)) note('missing', `a message names a file that is not there: ${text}`)
}

/** Checks that each file has the record by which it is found again, and each record its file, whole. */
function checkBlobs({ blobs, records }: StoredMedia, note: Note): void {
  for (const [key, { sha256 }] of blobs) {
    const record = records.get(key)
    if (!record) note('unrecorded', `nobody knows of ${key}`)
    else if (record.sha256 !== sha256) note('contradicted', `${key} is not what its record says`)
  }
  for (const [key, { isStored }] of records)
    if (isStored && !blobs.has(key)) note('missing', `${key} has a record and no file`)
}

/** Checks that no failure of the provider let anybody in, kept anybody out, or was kept for an answer. */
function checkEntries(history: readonly Entry[], { members, events }: StoredMedia, note: Note): void {
  for (const { type, isHolder, account, channel, outcome } of of(history, 'enter')) {
    if (type === 'ok' && !isHolder) note('wrongly accepted', `${account} came into ${channel} without a token`)
    if (type === 'fail' && isHolder) note('wrongly refused', `${account} holds the token of ${channel}: ${outcome}`)
  }
  for (const { account, isHolder, events: told } of of(history, 'scan'))
    if (`${told}` !== `${isHolder ? events : []}`) note('contradicted', `${account} was told the events [${told}]`)
  const people = new Map(of(history, 'enter').map(({ account, isHolder }) => [account, isHolder]))
  for (const [channel, inside] of members)
    for (const [account, isHolder] of people) {
      if (inside.has(account) && !isHolder) note('leaked', `${account} is in ${channel} without a token`)
      if (!inside.has(account) && isHolder) note('missing', `${account} holds the token and is not in ${channel}`)
    }
}
