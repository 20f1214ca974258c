/** Both documents as one list: an operation with its REST spellings and its socket event. */
export async function readDocuments() {
  const [rest, sockets] = await Promise.all(['openapi', 'asyncapi'].map(readJson))
  const operations = new Map()
  const of = (name, described) => {
    if (!operations.has(name)) operations.set(name, { name, summary: described.summary, spellings: [], events: [] })
    const operation = operations.get(name)
    operation.access = described['x-access']
    operation.tier = described['x-rate-tier']
    operation.errors = described['x-error-codes']
    operation.key = described['x-idempotency-key']
    return operation
  }
  for (const [path, methods] of Object.entries(rest.paths))
    for (const [method, described] of Object.entries(methods)) {
      if (!described['x-operation']) continue
      of(described['x-operation'], described).spellings.push({ method: method.toUpperCase(), path, ...described })
      for (const { query, ...variant } of described['x-variants'] ?? [])
        of(variant['x-operation'], variant).spellings.push({
          method: method.toUpperCase(),
          path: `${path}?${new URLSearchParams(query)}`,
          ...variant,
        })
    }
  const told = new Map()
  for (const described of Object.values(sockets.operations)) {
    const namespace = follow(sockets, described.channel).address
    const message = follow(sockets, described.messages[0])
    if (described.action === 'receive') {
      const answer = follow(sockets, described.reply.messages[0]).payload.oneOf[0].properties.data
      of(described['x-operation'], described).events.push({
        namespace,
        event: message.name,
        input: message.payload,
        answer,
      })
      continue
    }
    const event = told.get(message.name) ?? { ...message, audience: described['x-audience'], namespaces: [] }
    event.namespaces.push(namespace)
    told.set(message.name, event)
  }
  for (const { spellings } of operations.values()) spellings.sort((one, other) => rank(one) - rank(other))
  return {
    rest,
    sockets,
    operations: [...operations.values()],
    events: [...told.values()],
    errors: rest['x-errors'],
    tiers: rest['x-rate-tiers'],
    schemas: { ...sockets.components.schemas, ...rest.components.schemas },
  }
}

const readJson = async (name) => (await fetch(`/docs/${name}.json`)).json()
const rank = ({ operationId }) => (operationId.includes('.alias') ? 2 : 0) + (operationId.endsWith('.alpha') ? 1 : 0)

export function follow(document, { $ref }) {
  return $ref
    .slice(2)
    .split('/')
    .reduce((at, step) => at[step], document)
}
