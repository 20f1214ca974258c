import type { z } from 'zod'
import { AppError, type ErrorCode } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { type Event, freshMilliseconds, type Operation, refusesSuspended, scopeOf } from '#shared/kit/contract'
import { errorCodesOf } from '#shared/kit/json-schema'
import { endAtLength } from '#shared/kit/length-checks'
import { canonicalAddress, type RoomRef, roomKey } from '#shared/kit/primitives'
import type { Bound, Caller, CallFacts, Context, Node, Role } from './context.ts'
import { refusalFrom, whileStoreAnswers } from './http/deadline.ts'
import type { Streams } from './http/streams.ts'
import { newId } from './ids.ts'
import { costMeterOf, runCostlyCall, runJudgingCall } from './limits/budgets.ts'
import { hasOwnRefusals, type Rate } from './limits/limits.ts'
import { runOnce } from './work/idempotency.ts'

const checked = new WeakMap<object, { schema: z.ZodType; output: unknown }>()

/**
 * An item of a sequence, checked by its schema. An item with many receivers is checked once, and is one object for all.
 */
function checkedItem(schema: z.ZodType, item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return schema.parse(item)
  const known = checked.get(item)
  if (known?.schema === schema) return known.output
  const output = schema.parse(item)
  checked.set(item, { schema, output })
  return output
}

/** A list in an answer, with the path in an item that its schema refuses. */
interface RefusedItem {
  list: string
  path: string
}

/**
 * An answer, checked by its schema. A record may hold a value of the next version: its item is left out of the list and
 * reported. Numbered items are never left out, because readers take a missing number for a loss.
 */
export function checkedOutput(schema: z.ZodType, answer: unknown, leftOut: (refused: RefusedItem) => void): unknown {
  const checked = schema.safeParse(answer)
  if (checked.success) return checked.data
  const lists = new Map<string, Set<number>>()
  for (const { path } of checked.error.issues) {
    const [list, at] = path
    const items = isRecord(answer) && typeof list === 'string' ? answer[list] : null
    if (typeof list !== 'string' || typeof at !== 'number' || !Array.isArray(items) || isNumbered(items[at]))
      throw checked.error
    lists.set(list, (lists.get(list) ?? new Set()).add(at))
    leftOut({ list, path: path.slice(2).join('.') })
  }
  const shorter = [...lists].map(([list, refused]) => {
    const items = (answer as Record<string, unknown[]>)[list] ?? []
    return [list, items.filter((_, at) => !refused.has(at))]
  })
  return schema.parse({ ...(answer as object), ...Object.fromEntries(shorter) })
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isNumbered = (item: unknown): boolean => isRecord(item) && ('seq' in item || 'idx' in item)

export interface Call extends CallFacts {
  /** The time of arrival, by this process's monotonic clock. */
  askedAt: number
  /** Aborted when the caller disconnects; a socket creates it on first use. */
  gone(): AbortSignal
  onInput?(input: unknown): void
  onRate(rate: Rate): void
}

export interface Kernel {
  node: Node
  streams: Streams
  roleOf(account: string): Promise<Role>
  isSuspended(account: string): boolean | Promise<boolean>
  /** In tests and development an undeclared error code is a failure. */
  strict: boolean
  deliver(deliveries: readonly Delivery[]): void
  /** The running calls, including those of disconnected callers. */
  underWay: Set<Promise<unknown>>
  record(line: AuditLine): void
}

export interface Delivery {
  event: Event
  audience: string
  payload: unknown
}

export interface AuditLine {
  operation: string
  actor: string | null
  outcome: 'ok' | ErrorCode
  request_id: string
  /** The account that the call was about, or the key of the room. */
  target?: string
}

/** Refused calls name nobody, as the account may be none, or be deleted. */
function targetOf({ audit }: Operation, input: unknown): { target?: string } {
  const named = typeof audit === 'string' && (input as Record<string, unknown>)[audit]
  if (typeof named === 'string') return { target: named }
  return isRecord(named) ? { target: roomKey(named as RoomRef) } : {}
}

/**
 * The pipeline of every call at both doors. Its steps: allow, refuse the suspended, spend, parse, replay a known key,
 * act, check, store, deliver, record.
 */
export async function invoke(
  kernel: Kernel,
  bound: Bound,
  schema: z.ZodType,
  raw: unknown,
  call: Call,
): Promise<{ output: unknown; input: unknown }> {
  const started = performance.now()
  const { name, operation } = bound
  let outcome: 'ok' | ErrorCode = 'ok'
  let about: { target?: string } = {}
  try {
    const running = run(kernel, bound, schema, raw, call)
    kernel.underWay.add(running)
    const forget = () => kernel.underWay.delete(running)
    running.then(forget, forget)
    const ended = await whileStoreAnswers(kernel.node, call.askedAt, running)
    about = targetOf(operation, ended.input)
    return ended
  } catch (error) {
    const refusal = refusalOf(error, kernel, bound, call)
    outcome = refusal.code
    throw refusal
  } finally {
    // A sequence is counted at its end.
    if (!operation.stream || outcome !== 'ok')
      kernel.node.metrics.operation(name, call.door, outcome, performance.now() - started)
    if (operation.audit)
      kernel.record({ operation: name, actor: call.caller.account, outcome, request_id: call.requestId, ...about })
  }
}

async function run(kernel: Kernel, bound: Bound, schema: z.ZodType, raw: unknown, call: Call) {
  const { name, operation } = bound
  await allow(kernel, bound, call.caller)
  await refuseSuspended(kernel, operation, call.caller)
  refuseOtherCallers(schema, raw, call.caller)
  refuseOldProofs(kernel, operation, raw, call.caller)
  // A call beyond its limit costs no parsing, except where the limit depends on the input.
  const isSpentFirst = !operation.claim && !hasOwnRefusals(operation.limit)
  if (isSpentFirst) await spend(kernel, operation, {}, call)
  const input = parse(schema, raw)
  call.onInput?.(input)
  if (!isSpentFirst) await spend(kernel, operation, input, call)
  const key = replayKey(operation, input)
  const { account } = call.caller
  const deliveries: Delivery[] = []
  const act = async (creationId: string) => {
    const context = contextOf(kernel, bound, call, creationId, deliveries)
    const answer = await runAtCost(kernel, operation, call, async () => bound.action(input as never, context))
    if (operation.stream) return itemsOf(kernel, bound, answer as AsyncIterable<unknown>, call)
    return outputOf(kernel, bound, answer)
  }
  const output =
    key === null || account === null
      ? await act(newId())
      : await runOnce(kernel.node, { account, operation: name, key }, withoutCaller(schema, input), act)
  kernel.deliver(deliveries)
  return { output, input }
}

function runAtCost<T>({ node }: Kernel, operation: Operation, call: Call, work: () => Promise<T>): Promise<T> {
  if (operation.cost === 'cheap' || call.door === 'inside') return work()
  if (operation.cost === 'judged') return runJudgingCall(node, operation, call.caller, work)
  return runCostlyCall(node, call.caller.ip, work)
}

/** In tests and development an invalid answer fails as a whole, because it may be our fault. */
function outputOf({ node, strict }: Kernel, { name, operation }: Bound, answer: unknown): unknown {
  if (strict) return operation.output.parse(answer)
  return checkedOutput(operation.output, answer, (refused) => {
    node.metrics.itemLeftOut(name)
    node.logger.warn({ operation: name, ...refused }, 'an item was left out of a list')
  })
}

/**
 * The checked items of a sequence; an error is refused as in an answer. The call is counted once, with its outcome and
 * the time until the first read.
 */
async function* itemsOf(kernel: Kernel, bound: Bound, items: AsyncIterable<unknown>, call: Call) {
  const took = performance.now() - call.askedAt
  let outcome: 'ok' | ErrorCode = 'ok'
  try {
    for await (const item of items) yield checkedItem(bound.operation.output, item)
  } catch (error) {
    const refusal = refusalOf(error, kernel, bound, call)
    outcome = refusal.code
    throw refusal
  } finally {
    kernel.node.metrics.operation(bound.name, call.door, outcome, took)
  }
}

async function allow(kernel: Kernel, bound: Bound, caller: Caller): Promise<void> {
  const { access } = bound.operation
  if (caller.scopes) refuseOutOfScope(scopeOf(bound), caller.scopes)
  if (access === 'public') return
  if (caller.account === null) throw new AppError('UNAUTHORIZED')
  if (access === 'admin' && (await kernel.roleOf(caller.account)) === 'user') throw new AppError('FORBIDDEN')
}

async function refuseSuspended(kernel: Kernel, operation: Operation, { account }: Caller): Promise<void> {
  if (account === null || refusesSuspended(operation) !== 'caller') return
  if (await kernel.isSuspended(account)) throw new AppError('SUSPENDED')
}

function refuseOutOfScope(scope: string, granted: readonly string[]): void {
  if (!granted.includes(scope))
    throw new AppError('FORBIDDEN', { message: `This token lacks the scope ${scope}`, details: { scope } })
}

function refuseOldProofs({ node }: Kernel, { freshProof }: Operation, raw: unknown, { session }: Caller): void {
  if (!freshProof || !session) return
  if (freshProof.unless.some((field) => Boolean((raw as Record<string, unknown> | null)?.[field]))) return
  if (session.provenAt === null)
    throw new AppError('FORBIDDEN', { message: 'This asks for a sign-in, and a service token never signs in' })
  if (node.now() - session.provenAt >= freshMilliseconds) throw new AppError('REAUTHENTICATION_REQUIRED')
}

const callerFields = new WeakMap<z.ZodType, readonly string[]>()

/** The input fields that name the caller. */
function callerFieldsOf(schema: z.ZodType): readonly string[] {
  const known = callerFields.get(schema)
  if (known) return known
  const fields = objectsIn(schema).flatMap((object) =>
    Object.entries(object.shape).flatMap(([field, value]) =>
      (value as z.ZodType).meta()?.['names-caller'] ? [field] : [],
    ),
  )
  callerFields.set(schema, fields)
  return fields
}

/** The objects in a schema, through unions and transforms. */
export function objectsIn(schema: z.ZodType): z.ZodObject[] {
  const { def } = schema as unknown as {
    def: { type: string; in?: z.ZodType; options?: z.ZodType[]; innerType?: z.ZodType }
  }
  if (def.type === 'object') return [schema as z.ZodObject]
  if (def.type === 'pipe' && def.in) return objectsIn(def.in)
  if (def.type === 'union' && def.options) return def.options.flatMap(objectsIn)
  return def.innerType ? objectsIn(def.innerType) : []
}

/** Runs before any look-up, so that a false claim of identity reveals nothing. */
function refuseOtherCallers(schema: z.ZodType, raw: unknown, caller: Caller): void {
  if (caller.account === null || typeof raw !== 'object' || raw === null) return
  for (const field of callerFieldsOf(schema)) {
    const claimed = (raw as Record<string, unknown>)[field]
    if (typeof claimed === 'string' && claimed !== '' && !isSameAccount(canonicalAddress(claimed), caller.account))
      throw new AppError('FORBIDDEN', { message: 'The address is not the one of your session' })
  }
}

/** Fields that name the caller are left out: a repeat may omit them. */
function withoutCaller(schema: z.ZodType, input: unknown): unknown {
  const named = callerFieldsOf(schema)
  return Object.fromEntries(Object.entries(input as object).filter(([field]) => !named.includes(field)))
}

function parse(schema: z.ZodType, raw: unknown): unknown {
  endAtLength(schema)
  const parsed = schema.safeParse(raw)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue?.path.join('.') ?? ''
  const plain = issue?.message ?? 'Invalid input'
  const isNamed = plain.split(/\W+/).includes(String(issue?.path.at(-1)))
  const message = path && !isNamed && /^(Invalid|Too|Unrecognized)/.test(plain) ? `${path}: ${plain}` : plain
  throw new AppError('VALIDATION_ERROR', { message, details: { path } })
}

const replayKey = (operation: Operation, input: unknown): string | null => {
  if (operation.idempotency?.kept !== 'answer') return null
  const key = (input as Record<string, unknown>)[operation.idempotency.key]
  return typeof key === 'string' ? key : null
}

/** One bucket for both doors: by claim, else by account, else by address. */
async function spend(
  { node }: Kernel,
  operation: Operation,
  input: unknown,
  { caller, door, onRate }: Call,
): Promise<void> {
  if (door === 'inside') return
  const { limit } = operation
  const claimed = operation.claim?.(input as Record<string, unknown>)
  const { rate, retryAfterSeconds } = claimed
    ? await node.limits.claim(limit, caller.ip, claimed)
    : await node.limits.spend(limit, caller.account ?? caller.ip)
  onRate(rate)
  if (retryAfterSeconds !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: retryAfterSeconds, rate })
}

function contextOf(
  { node }: Kernel,
  { operation }: Bound,
  call: Call,
  creationId: string,
  deliveries: Delivery[],
): Context {
  const { askedAt, gone, onInput, onRate, ...asked } = call
  return {
    ...asked,
    creationId,
    node,
    charge: call.door === 'inside' ? async () => {} : costMeterOf(node, operation, call.caller),
    logger: node.logger,
    get signal() {
      return gone()
    },
    emit(event, audience, payload) {
      deliveries.push({ event, audience, payload: event.payload.parse(payload) })
    },
  }
}

function refusalOf(thrown: unknown, kernel: Kernel, { name, operation }: Bound, call: Call): AppError {
  const fields = { request_id: call.requestId, operation: name, actor: call.caller.account }
  const error = refusalFrom(thrown)
  if (!error) {
    kernel.node.logger.error({ ...fields, error: thrown }, 'action failed')
    return new AppError('INTERNAL_ERROR', { cause: thrown })
  }
  const declared = errorCodesOf(operation).all.includes(error.code)
  if (kernel.strict && !declared) {
    kernel.node.logger.error({ ...fields, code: error.code }, 'undeclared error code')
    return new AppError('INTERNAL_ERROR', {
      message: `${name} answered the undeclared code ${error.code}`,
      cause: error,
    })
  }
  if (error.status >= 500) kernel.node.logger.warn({ ...fields, code: error.code, error: error.cause }, 'refused')
  return error
}
