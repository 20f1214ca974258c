import { h } from './dom.js'
import { exampleOf } from './schema.js'
import { io } from './socket.io.js'

const token = () => document.getElementById('token').value.trim()
const pretty = (value) => JSON.stringify(value, null, 2)

/** Calls over REST: fields for what stands in the path and the query, and a body. */
export function tryRest(spellings) {
  const place = h('div', { class: 'try' })
  const choose = h(
    'select',
    { 'aria-label': 'Path', change: () => show(spellings[Number(choose.value)]) },
    spellings.map(({ method, path }, index) => h('option', { value: String(index) }, `${method} ${path}`)),
  )
  const show = ({ method, path, parameters, requestBody }) => {
    const fields = parameters.map((parameter) => ({ ...parameter, input: field(parameter) }))
    const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {}
    const body = json && editor(json.example ?? exampleOf(json.schema))
    const parts = Object.entries(form?.schema.properties ?? {}).map(([name, schema]) => ({ name, input: part(schema) }))
    const answer = h('pre', { class: 'answer' })
    const send = () => void call(method, path, fields, form ? formOf(parts) : body?.value, answer)
    place.replaceChildren(
      ...[...fields, ...parts].map(({ name, input }) => h('label', {}, h('span', {}, name), input)),
      ...(body ? [h('label', {}, h('span', {}, 'body'), body)] : []),
      h('button', { type: 'button', click: send }, `${method} it`),
      answer,
    )
  }
  show(spellings[0])
  return h('div', {}, choose, place)
}

function field({ name, schema, required, example }) {
  const value = required || name === 'Idempotency-Key' ? '' : undefined
  const placeholder = schema.enum?.join(', ') ?? example ?? schema.type ?? ''
  return h('input', { value, placeholder, spellcheck: 'false' })
}

const part = ({ format, type }) => h('input', format === 'binary' ? { type: 'file' } : { placeholder: type ?? '' })

function formOf(parts) {
  const form = new FormData()
  for (const { name, input } of parts) {
    const value = input.files?.[0] ?? input.value
    if (value !== '') form.set(name, value)
  }
  return form
}

const editor = (value) => {
  const text = pretty(value)
  const area = h('textarea', { rows: String(Math.min(16, text.split('\n').length + 1)), spellcheck: 'false' })
  area.value = text
  return area
}

async function call(method, template, fields, body, answer) {
  const filled = fields.filter(({ input }) => input.value !== '')
  const inside = (where) => filled.filter((one) => one.in === where).map(({ name, input }) => [name, input.value])
  const path = inside('path').reduce(
    (at, [name, value]) => at.replace(`{${name}}`, encodeURIComponent(value)),
    template,
  )
  const query = new URLSearchParams(inside('query')).toString()
  const headers = new Headers(inside('header'))
  if (token()) headers.set('Authorization', `Bearer ${token()}`)
  if (typeof body === 'string') headers.set('Content-Type', 'application/json')
  answer.textContent = '…'
  try {
    const address = query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path
    const response = await fetch(address, { method, headers, body: body ?? null })
    const rate = ['Limit', 'Remaining', 'Reset'].map((name) => response.headers.get(`X-RateLimit-${name}`)).join(' / ')
    answer.textContent = `${response.status}   rate ${rate}\n\n`
    if (/x-ndjson|event-stream/.test(response.headers.get('Content-Type'))) await showLines(response, answer)
    else answer.textContent += readable(await response.text())
  } catch (error) {
    answer.textContent = String(error)
  }
}

/** An answer that goes on is shown as it comes. */
async function showLines(response, answer) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) answer.textContent += part.value
}

function readable(text) {
  try {
    return pretty(JSON.parse(text))
  } catch {
    return text
  }
}

const sockets = new Map()
const heard = []
const listeners = new Set()

/** One connection a namespace; what it hears is kept for whoever looks. */
function socketOf(namespace) {
  const known = sockets.get(namespace)
  if (known?.token === token()) return known.socket
  known?.socket.disconnect()
  const auth = token() ? { token: token(), protocol: 1 } : { protocol: 1 }
  const socket = io(namespace, { transports: ['websocket'], auth, forceNew: true, reconnectionAttempts: 3 })
  socket.onAny((event, payload) => hear(`${namespace} ${event} ${pretty(payload)}`))
  socket.on('connect_error', (error) => hear(`${namespace} refused: ${error.data?.code ?? ''} ${error.message}`))
  socket.on('disconnect', (reason) => hear(`${namespace} closed: ${reason}`))
  sockets.set(namespace, { socket, token: token() })
  return socket
}

function hear(text) {
  heard.unshift(`${new Date().toLocaleTimeString()}  ${text}`)
  heard.length = Math.min(heard.length, 50)
  for (const listener of listeners) listener()
}

/** Asks over a socket, and shows the ack and what the connection hears afterwards. */
export function trySocket({ namespace, event, input }) {
  const body = editor(exampleOf(input))
  const answer = h('pre', { class: 'answer' })
  const emit = async () => {
    answer.textContent = '…'
    try {
      const payload = JSON.parse(body.value)
      answer.textContent = pretty(await socketOf(namespace).timeout(8_000).emitWithAck(event, payload))
    } catch (error) {
      answer.textContent = String(error)
    }
  }
  return h(
    'div',
    { class: 'try' },
    h('label', {}, h('span', {}, 'payload'), body),
    h('button', { type: 'button', click: () => void emit() }, `emit ${event}`),
    answer,
    h('p', { class: 'small' }, 'What this page hears:'),
    heardView(),
  )
}

export function heardView() {
  const view = h('pre', { class: 'answer heard' })
  const show = () => {
    view.textContent = heard.join('\n') || 'Nothing yet. Join a room with room:join.'
  }
  listeners.add(show)
  show()
  return view
}
