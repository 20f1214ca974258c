import { expect, test } from 'vitest'
import { sourcesOf } from './sources.ts'

const never = /\.(?:substring|substr)\(/
const ofPeople =
  /\b(?:\w*(?:text|content|description|question|title|personality|answer|preview|quote|memo|bio|caption|message|reason)|said|clean|plain|shown|given|written)(?:\([^()]*\))?(?:\.(?:trim|toLowerCase|join)\([^()]*\))*\??\.slice\(0,|\[\.\.\.[^\]]*\b\w*(?:text|content|title|name|tag|given|plain|answer)\b[^\]]*\]\.slice\(0,/i

/** What looks so, and why nobody reads less for it. */
const others: readonly (readonly [file: string, snippet: string, why: string])[] = [
  ['shared/kit/cut.ts', 'text.slice(0,', 'this is the function'],
  ['client/sdk/run-state.ts', 'text.slice(0, frame.off)', 'the rest follows'],
  ['client/sdk/writing.ts', 'text.slice(0, at)', 'the rest follows'],
  ['server/domains/agents/agent-rooms/answers.ts', 'text.slice(0, ', 'the rest follows'],
  ['server/domains/agents/runs/answer.ts', 'said.slice(0, said.length - part.length)', 'the rest is taken back'],
  ['server/domains/agents/agents/events.ts', 'answer.slice(0, answer.length - part.length)', 'the rest is taken back'],
  ['server/domains/agents/runs/frame-store.ts', 'text.slice(0, frame.off)', 'the rest follows'],
  ['server/domains/agents/runs/writer.ts', 'text.slice(0, body.off)', 'the rest follows'],
  ['client/web/agent-page/paid-chat.ts', 'said?.slice(0, at)', 'a list'],
  ['client/web/messages/use-choices.ts', 'text.slice(0, ', 'what stands before the cursor'],
  ['client/web/messages/completion-list.tsx', 'text.slice(0, cursor)', 'what stands before the cursor'],
  ['server/domains/agents/agent-tools/redaction.ts', 'text.slice(0, mostRead', 'a part that is looked through'],
  ['server/domains/agents/library/search/exact.ts', 'slice(0, mostTerms)', 'a list'],
  ['server/domains/streams/streams/index.ts', 'given.slice(0, idLength)', 'an id'],
  ['server/domains/rooms/text/mentions.ts', 'text.slice(0, longestRead)', 'a part that is looked through'],
  ['server/ports/model/openai-parts.ts', 'given.slice(0, given.length', 'the rest follows'],
  ['server/ports/reader/process.ts', 'text.slice(0, longest)', 'far more than is kept'],
  ['server/ports/video/livepeer-api.ts', 'errorMessage?.slice(0, 300)', 'of a service, in English'],
]

test('N24: what people wrote is cut by one function, between characters as people see them', () => {
  const found = sourcesOf('server', 'shared', 'client').flatMap(({ path, code }) =>
    code.split('\n').flatMap((line) => (never.test(line) || ofPeople.test(line) ? [{ path, line: line.trim() }] : [])),
  )
  const isOther = ({ path, line }: { path: string; line: string }) =>
    others.some(([file, snippet]) => file === path && line.includes(snippet))
  expect(found.filter((one) => !isOther(one))).toEqual([])
  expect(
    others.filter(([file, snippet]) => !found.some(({ path, line }) => file === path && line.includes(snippet))),
  ).toEqual([])
})
