import { readDocuments } from './document.js'
import { h, prose } from './dom.js'
import { operationView } from './operation.js'
import { schemaView } from './schema.js'
import { heardView } from './try.js'

const documents = await readDocuments()
const main = document.getElementById('main')
const contents = document.getElementById('contents')
const search = document.getElementById('search')

const wordsOf = ({ name, summary, spellings, events, errors }) =>
  [
    name,
    summary,
    ...errors,
    ...spellings.flatMap(({ method, path }) => [method, path]),
    ...events.map(({ event }) => event),
  ]
    .join(' ')
    .toLowerCase()

function found() {
  const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  return documents.operations.filter((operation) => asked.every((word) => wordsOf(operation).includes(word)))
}

function showContents(operations) {
  const domains = Map.groupBy(operations, ({ name }) => name.split('.')[0])
  contents.replaceChildren(
    ...[...domains].map(([domain, inside]) =>
      h(
        'section',
        {},
        h('h2', {}, domain),
        inside.map(({ name }) => h('a', { href: `#${name}` }, name.split('.')[1])),
      ),
    ),
  )
}

const sections = {
  operations: () => [
    h('h2', {}, 'Operations'),
    h('p', { class: 'lead' }, 'Each is one declaration behind two doors: the same input, answer, limits and refusals.'),
    found().map((operation) => operationView(operation, documents)),
  ],
  events: () => [
    h('h2', {}, 'Events'),
    h('p', { class: 'lead' }, 'What the server tells. Ignore events and fields you do not know: more may come.'),
    documents.events.map(({ name, namespaces, summary, audience, payload }) =>
      h(
        'article',
        {},
        h('h3', {}, name),
        h('p', {}, prose(summary)),
        h('p', { class: 'small facts' }, h('span', {}, namespaces.join(' ')), h('span', {}, `to: ${audience}`)),
        schemaView(payload),
      ),
    ),
    h('article', {}, h('h3', {}, 'Heard by this page'), heardView()),
  ],
  schemas: () => [
    h('h2', {}, 'Schemas'),
    Object.entries(documents.schemas)
      .filter(([name]) => name !== 'ErrorCode')
      .map(([name, schema]) => h('article', { id: `schema.${name}` }, h('h3', {}, name), schemaView(schema))),
  ],
  errors: () => [
    h('h2', {}, 'Errors'),
    h(
      'p',
      { class: 'lead' },
      'Codes are stable, messages may change. REST answers in one of two shapes, by path; acks in a third.',
    ),
    h(
      'pre',
      {},
      '{ "error": "text", "code": "CODE" }\n{ "success": false, "error": { "code": "CODE", "message": "text" } }\n{ "ok": false, "error": { "code": "CODE", "message": "text", "status": 403 }, "meta": { … } }',
    ),
    h(
      'table',
      {},
      h(
        'tbody',
        {},
        Object.entries(documents.errors).map(([code, { status, message }]) => row(code, status, message)),
      ),
    ),
  ],
  limits: () => [
    h('h2', {}, 'Limits'),
    h(
      'p',
      { class: 'lead' },
      'Calls a minute, in a sliding window. One bucket for both doors: an account’s, or else an address’s.',
    ),
    h(
      'table',
      {},
      h(
        'tbody',
        {},
        Object.entries(documents.tiers).map(([tier, calls]) => row(tier, calls, 'calls a minute')),
      ),
    ),
  ],
}

const row = (name, ...cells) =>
  h(
    'tr',
    {},
    h('td', {}, h('code', {}, name)),
    cells.map((cell) => h('td', {}, String(cell))),
  )

let shown = ''

function show() {
  const wanted = decodeURIComponent(location.hash.slice(1)) || 'operations'
  const section = wanted.startsWith('schema.') ? 'schemas' : wanted in sections ? wanted : 'operations'
  const state = `${section} ${section === 'operations' ? search.value : ''}`
  if (state !== shown) main.replaceChildren(...sections[section]().flat(9))
  shown = state
  if (wanted === section) scrollTo(0, 0)
  else document.getElementById(wanted)?.scrollIntoView()
}

search.addEventListener('input', () => {
  showContents(found())
  if (!location.hash || location.hash === '#operations') show()
  else location.hash = '#operations'
})
addEventListener('hashchange', show)
showContents(documents.operations)
show()
