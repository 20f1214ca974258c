import { fold, h, prose } from './dom.js'
import { schemaView } from './schema.js'
import { tryRest, trySocket } from './try.js'

const whoMay = { public: 'everybody', user: 'people who are signed in', admin: 'admins' }

/** One operation: what it does, its two doors side by side, and what it may refuse. */
export function operationView(operation, documents) {
  const { name, summary, access, tier, key, errors } = operation
  return h(
    'article',
    { id: name },
    h('h3', {}, h('a', { href: `#${name}` }, name)),
    h('p', {}, prose(summary)),
    h(
      'p',
      { class: 'small facts' },
      h('span', {}, `for ${whoMay[access]}`),
      h('a', { href: '#limits' }, `${tier}, ${documents.tiers[tier]} a minute`),
      key ? h('span', {}, 'repeats are recognised by ', h('code', {}, key)) : null,
    ),
    h('div', { class: 'doors' }, restDoor(operation), socketDoor(operation)),
    errors.length > 0 ? errorsView(errors, documents) : null,
  )
}

function restDoor({ spellings }) {
  if (spellings.length === 0)
    return h('section', { class: 'door none' }, h('h4', {}, 'REST'), h('p', {}, 'Sockets only.'))
  const [first, ...others] = spellings
  const answers = first.responses[200].content
  const sequence = answers['application/json']
    ? undefined
    : (answers['application/x-ndjson'] ?? answers['text/event-stream'])
  const [body] = Object.values(first.requestBody?.content ?? {})
  return h(
    'section',
    { class: 'door' },
    h('h4', {}, 'REST'),
    pathView(first),
    others.length > 0
      ? fold(`${others.length} more ${others.length === 1 ? 'path' : 'paths'}`, () => others.map(pathView))
      : null,
    first.parameters.length > 0 ? fold('Parameters', () => parametersView(first.parameters)) : null,
    body ? fold('Body', () => schemaView(body.schema)) : null,
    fold(sequence ? 'Each item of the answer' : 'Answer', () =>
      schemaView((sequence ?? answers['application/json']).schema),
    ),
    fold('Example', () => exampleView(first)),
    fold('Try it', () => tryRest(spellings)),
  )
}

const pathView = ({ method, path }) =>
  h('p', { class: 'path' }, h('b', { class: method.toLowerCase() }, method), ' ', h('code', {}, path))

/** One request as it is written, and what it is answered. */
function exampleView({ method, path, parameters, requestBody, responses }) {
  const given = parameters.filter(({ example }) => example !== undefined)
  const placed = path.replace(/\{(\w+)\}/g, (whole, name) => given.find((one) => one.name === name)?.example ?? whole)
  const query = new URLSearchParams(given.flatMap((one) => (one.in === 'query' ? [[one.name, one.example]] : [])))
  const line = `${method} ${placed}${query.size > 0 ? `?${query}` : ''}`
  const { example: body } = requestBody?.content['application/json'] ?? {}
  const { example: answer } = Object.values(responses[200].content)[0]
  return [
    h('pre', { class: 'answer' }, body === undefined ? line : `${line}\n\n${pretty(body)}`),
    h('pre', { class: 'answer' }, pretty(answer)),
  ]
}

const pretty = (value) => JSON.stringify(value, null, 2)

function parametersView(parameters) {
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name)
  return schemaView({ type: 'object', properties, required })
}

function socketDoor({ events }) {
  if (events.length === 0) return h('section', { class: 'door none' }, h('h4', {}, 'Socket'), h('p', {}, 'REST only.'))
  const [first] = events
  const where = events.length > 1 ? 'every namespace' : first.namespace
  return h(
    'section',
    { class: 'door' },
    h('h4', {}, 'Socket'),
    h('p', { class: 'path' }, h('b', { class: 'emit' }, where), ' ', h('code', {}, first.event)),
    fold('Payload', () => schemaView(first.input)),
    fold('Ack data', () => schemaView(first.answer)),
    fold('Try it', () => trySocket(first)),
  )
}

function errorsView(codes, { errors }) {
  return h(
    'p',
    { class: 'small codes' },
    'May refuse with ',
    codes.map((code) => h('a', { href: '#errors', title: errors[code].message }, `${code} ${errors[code].status}`)),
  )
}
