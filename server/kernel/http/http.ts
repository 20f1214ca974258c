import express, { type Express, type Request, type RequestHandler, type Response, type Router } from 'express'
import { clientAddressOf, isLocalRequest } from '#server/kernel/addresses'
import type { Bound, Caller } from '#server/kernel/context'
import type { AdminProof, Callers } from '#server/kernel/domain'
import { invoke } from '#server/kernel/invoke'
import { countRefused, meterRequests, refuseRequests, requestIdOf } from '#server/kernel/limits/metered'
import { serveInTurns } from '#server/kernel/limits/turnstile'
import { openMedia, receiveProviderWebhook } from '#server/kernel/media'
import { sharedLook } from '#server/kernel/shared-look'
import { answerItems } from '#server/kernel/store/items'
import type { Uploads } from '#server/kernel/uploads'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { expandRoute, type Method, type Operation, pathParameters } from '#shared/kit/contract'
import { fileOf } from '#shared/kit/json-schema'
import { browserIdOf, keepBrowser, keepReturn, keepSession } from './cookies.ts'
import { onAnswerEnd, whileStoreAnswers } from './deadline.ts'
import {
  answerError,
  createRouteLookup,
  markDeprecated,
  markDeprecatedPath,
  methodsOfOthers,
  openPathRule,
  routeGroupOf,
  unknownRoute,
} from './http-errors.ts'
import {
  answerAsData,
  beginRequest,
  crossOrigin,
  type Door,
  guardPayload,
  rateHeaders,
  readBody,
  readerRuleOf,
  readLongBody,
  redirectToLocalhost,
  refuseExpectations,
  refuseForeignOrigins,
  refuseUnclearRequests,
  refuseVisits,
  requireJson,
  sendRate,
} from './http-guards.ts'
import { securityHeaders, separateFilesHost, setHeaders } from './http-headers.ts'
import { adminProofOf, credentialOf, hasBearer, readInput, type Spelling, spellingsOf } from './http-input.ts'
import { mountRaw, type RawRoute } from './raw-route.ts'

interface HttpDoor extends Door {
  identifyAdmin: Callers['identifyAdmin']
  /** Routes that are no operations: documents, the page. */
  raw: readonly RawRoute[]
  uploads: Uploads
}

/** Serves HTTP requests: one at a time for each connection, within the budgets of its address and account. */
export function listenHttp(door: HttpDoor): ReturnType<typeof serveInTurns> {
  const { limits } = door.kernel.node
  const media = openMedia(door)
  const refuse = refuseRequests(door, createRouteLookup(door.bound), readersOf(door))
  return serveInTurns(
    door.proxies,
    limits.scale,
    meterRequests(door, media, refuse, httpDoor(door, media)),
    door.slots.bar,
  )
}

const readersOf = ({ origins, bound }: HttpDoor) => readerRuleOf(origins, openPathRule(bound))

function httpDoor(door: HttpDoor, media = openMedia(door)): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.set('query parser', 'simple')
  const { settings, services } = door.kernel.node
  app.use(identifyRequest(door), refuseUnclearRequests(door), separateFilesHost(settings), media.handle)
  app.use(secure(securityHeaders(settings, services.video?.origins ?? [])))
  app.use(crossOrigin(door.origins, readersOf(door)), sendRate(door), refuseExpectations)
  app.post('/api/webhooks/video', receiveProviderWebhook(door))
  app.use('/api', answerAsData, unlessUpload(door, requireJson), unlessUpload(door, readBody))
  app.use('/socket.io', refusePolling)
  app.use(beginRequest(door.slots))
  mountOperations(app, door)
  redirectToLocalhost(app, door.kernel.node.settings.publicUrl)
  mountRaw(app, door.raw)
  app.use(unknownRoute(door.bound))
  app.use(answerError(door.kernel, createRouteLookup(door.bound)))
  return app
}

const secure =
  (headers: ReturnType<typeof securityHeaders>): RequestHandler =>
  (_request, response, next) => {
    setHeaders(response, headers)
    next()
  }

const refusePolling: RequestHandler = () => {
  throw new AppError('VALIDATION_ERROR', { message: 'Connect by WebSocket: `transports: ["websocket"]`' })
}

const idOf = (request: Request): string => String(request.res?.getHeader('x-request-id') ?? '')

/** Paths whose rest is a secret: it admits to a room, meeting or call, or allows publishing or a download. */
const secret =
  /(\/(?:invit(?:e|ations)|webrtc|files|archives|room|join|api\/rooms(?=\/[^/]{6}(?:\/\w+|\/people\/[^/]+)?\/?$))\/).+/is

/** What names a person: an address of a wallet, or of email. */
const named = /0x[\da-f]{8,}|[1-9a-hj-np-z]{32,44}|[^/@]+@[^/]+/gi

/** The path for a log line, without such a secret or name in any spelling. */
function loggedPath(sent: string): string {
  try {
    const path = decodeURIComponent(sent)
    const plain = path.replace(secret, '$1***').replace(named, '***')
    return plain === path ? sent : encodeURI(plain)
  } catch {
    return '(not a path)'
  }
}

const identifyRequest =
  ({ kernel }: HttpDoor): RequestHandler =>
  (request, response, next) => {
    response.setHeader('x-request-id', requestIdOf(request))
    const started = performance.now()
    onAnswerEnd(request, response, () =>
      kernel.node.logger.info(
        {
          request_id: idOf(request),
          method: request.method,
          path: loggedPath(request.path.slice(0, 200)),
          status: response.headersSent ? response.statusCode : null,
          milliseconds: Math.round(performance.now() - started),
        },
        'http',
      ),
    )
    next()
  }

/** Requests of a path by a method, and their answer. */
interface Mount {
  method: Method
  path: string
  query: Readonly<Record<string, string>> | undefined
  answer: RequestHandler
}

/** Paths with fewer parameters, and those with a required query, come first, so that none hides another. */
export function mountsOf(door: HttpDoor): Mount[] {
  const operations = door.bound.flatMap((bound) =>
    spellingsOf(bound.operation).flatMap((spelling) =>
      expandRoute(spelling.route).map(({ fixed, method, path, query }) => ({
        ...{ method, path, query },
        answer: (request: Request, response: Response) => handle(door, bound, spelling, fixed, request, response),
      })),
    ),
  )
  const answer = unknownRoute(door.bound)
  const refusals = methodsOfOthers(door.bound).map((place) => ({ ...place, query: undefined, answer }))
  const rank = ({ path, query }: Mount) => 2 * pathParameters(path).length + (query ? 0 : 1)
  return [...operations, ...refusals].sort((one, other) => rank(one) - rank(other))
}

/**
 * A request is compared with the paths of its group alone, as there are many hundreds in all. The router of a group is made
 * for its first request: all of them would slow a start.
 */
function mountOperations(app: Express, door: HttpDoor): void {
  const groups = new Map<string, Mount[]>()
  for (const mount of mountsOf(door)) {
    const group = routeGroupOf(mount.method, mount.path)
    groups.set(group, [...(groups.get(group) ?? []), mount])
  }
  const routers = new Map<string, Router>()
  function routerOf(group: string): Router | undefined {
    const mounts = groups.get(group)
    const known = routers.get(group)
    if (known || !mounts) return known
    const router = express.Router()
    for (const { method, path, query, answer } of mounts)
      router[method.toLowerCase() as Lowercase<Method>](path, ...(query ? [whereAsked(query)] : []), answer)
    routers.set(group, router)
    return router
  }
  app.use((request, response, next) => {
    const router = routerOf(routeGroupOf(request.method === 'HEAD' ? 'GET' : request.method, request.path))
    if (router) router(request, response, next)
    else next()
  })
}

/** Continues with the next operation of the path if the query does not select this one. */
function whereAsked(query: Readonly<Record<string, string>>): RequestHandler {
  return function asked(request, _response, next) {
    for (const [name, value] of Object.entries(query)) {
      const given = request.query[name] ?? askedInBody(request.body, name)
      if (given === undefined || (value === 'true' && given === 'false')) return next('route')
      if (value !== '' && given !== value)
        throw new AppError('VALIDATION_ERROR', { message: `${name}: must be ${value}` })
    }
    next()
  }
}

/** A flag of the body, in the form of a query. */
function askedInBody(body: unknown, name: string): string | undefined {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === 'boolean' ? String(value) : undefined
}

async function handle(
  door: HttpDoor,
  bound: Bound,
  spelling: Spelling,
  fixed: { type: string } | undefined,
  request: Request,
  response: Response,
) {
  response.locals.errorBody = spelling.errorBody
  markDeprecatedPath(response, spelling.successor, request.path, request.params)
  if (['GET', 'HEAD'].includes(request.method) && bound.operation.http?.startsWith('GET ') === false) {
    refuseForeignOrigins(door.origins, request)
    refuseVisits(request)
  }
  let caller: Pick<Caller, 'account' | 'ip'> = { account: null, ip: clientAddressOf(request, door.proxies) }
  const recognise = async () => {
    const recognised = await identifyCaller(door, bound, request)
    caller = recognised
    return recognised
  }
  try {
    if (!hasOwnBody(bound.operation)) return await answer(door, bound, spelling, fixed, recognise, request, response)
    const release = await receive(door, await recognise(), bound.operation, request, response)
    // The received file is read even if the connection has closed meanwhile.
    await answer(door, bound, spelling, fixed, recognise, request, response).finally(release)
  } catch (error) {
    if (response.locals.isSpent) throw error
    throw await countRefused(door.kernel.node, bound.operation, caller, error, (rate) => rateHeaders(response, rate))
  }
}

async function answer(
  door: HttpDoor,
  bound: Bound,
  spelling: Spelling,
  fixed: { type: string } | undefined,
  recognise: () => Promise<Caller>,
  request: Request,
  response: Response,
) {
  const { stream } = bound.operation
  const raw = readInput(bound.operation, spelling, fixed, request)
  guardPayload(raw)
  const askedAt = performance.now()
  const caller = await recognise()
  const again = () => {
    const who = [
      bound.name,
      credentialOf(request, door.kernel.node.settings.publicUrl),
      adminProofOf(request),
      caller.ip,
      caller.userAgent,
    ]
    return sharedLook(door.kernel.node, JSON.stringify(who), recognise)
  }
  door.slots.recognise(request, caller, door.kernel.node.now())
  const gone = new AbortController()
  const leave = stream && door.kernel.streams.enter({ caller, end: (error: AppError) => gone.abort(error) })
  onAnswerEnd(request, response, () => {
    gone.abort()
    leave?.()
  })
  const cookies = { request, response, origin: door.kernel.node.settings.publicUrl }
  let isUnchanged = false
  const { output, input } = await invoke(door.kernel, bound, spelling.schema, raw, {
    door: 'http',
    caller,
    recognise: again,
    requestId: idOf(request),
    askedAt,
    origin: request.get('host') ?? null,
    isLocal: isLocalRequest(request),
    connection: null,
    browser: browserIdOf(request.headers.cookie, cookies.origin),
    http: {
      setBrowserCookie: (id) => void keepBrowser(cookies, id),
      setReturnCookie: (value, path) => void keepReturn(cookies, value, path),
      setSessionCookie: (token) => keepSession(cookies, token, caller.session !== null),
      setHeader: (name, value) => void response.setHeader(name, value),
      answerUnchanged: () => {
        isUnchanged = request.get('if-none-match') !== undefined
      },
    },
    gone: () => gone.signal,
    onAnswer() {},
    onInput: (read) => markDeprecated(response, spelling.successor, read as object),
    onRate(rate) {
      response.locals.isSpent = true
      rateHeaders(response, rate)
    },
  })
  if (isUnchanged) return void response.status(304).end()
  if (!stream) return void response.status(200).json(spelling.answer(output, input))
  const isStill = () => endOf(caller, again)
  const ended = await isStill()
  if (ended) throw ended
  await answerItems(output as AsyncIterable<unknown>, request, response, {
    gone,
    isStill,
    metrics: door.kernel.node.metrics,
    itemsOnly: bound.operation.lines === 'only',
    form: spelling.form,
  })
}

/** Is the body a file, or longer than usual? */
const hasOwnBody = (operation: Operation): boolean => fileOf(operation) !== null || operation.jsonBytes !== undefined

/** Reads such a body for signed-in callers only, because it takes memory. */
async function receive(
  { slots, kernel, uploads }: HttpDoor,
  caller: Caller,
  operation: Operation,
  request: Request,
  response: Response,
): Promise<() => void> {
  const { account, ip } = caller
  if (account === null) throw new AppError('UNAUTHORIZED')
  slots.recognise(request, caller, kernel.node.now())
  const file = fileOf(operation)
  if (operation.jsonBytes !== undefined && (file === null || request.is('json')))
    await readLongBody(request, response, operation.jsonBytes)
  else if (file) {
    return uploads.receive(request, response, { ...file, operation }, { account, ip })
  }
  return () => undefined
}

/** Leaves such bodies to their operations. */
function unlessUpload({ bound }: HttpDoor, handler: RequestHandler): RequestHandler {
  const paths = bound
    .filter(({ operation }) => hasOwnBody(operation))
    .flatMap(({ operation }) => spellingsOf(operation).flatMap(({ route }) => expandRoute(route)))
    .map(({ path }) => new RegExp(`^${path.replace(/:[a-zA-Z_]+/g, '[^/]+')}/?$`, 'i'))
  return (request, response, next) =>
    request.method === 'POST' && paths.some((path) => path.test(request.baseUrl + request.path))
      ? next()
      : handler(request, response, next)
}

/** The error if the caller's session has ended; null while it is valid or unknown. */
async function endOf({ account }: Caller, recognise: () => Promise<Caller>): Promise<AppError | null> {
  try {
    return isSameAccount((await recognise()).account, account) ? null : new AppError('SESSION_NOT_FOUND')
  } catch (error) {
    return error instanceof AppError && error.status === 401 ? error : null
  }
}

/** An expired session does not prevent signing in or out. */
const opensOrEnds = new Set<Operation['whileSuspended']>(['signs in', 'withdraws'])

/**
 * Identifies the caller. For a public operation an invalid cookie counts as none, because browsers send it
 * automatically. The same applies to signing in and out. An invalid bearer is refused otherwise.
 */
async function identifyCaller(door: HttpDoor, { operation }: Bound, request: Request): Promise<Caller> {
  const ip = clientAddressOf(request, door.proxies)
  const seen = { ip, userAgent: (request.get('user-agent') ?? '').slice(0, 200) }
  const proof = operation.access === 'admin' ? adminProofOf(request) : null
  const identified = proof
    ? identifyAdmin(door, proof, request, seen)
    : door.identify(credentialOf(request, door.kernel.node.settings.publicUrl), seen)
  return whileStoreAnswers(door.kernel.node, performance.now(), identified).catch((error: unknown) => {
    const mayBeNobody =
      operation.access === 'public' && (!hasBearer(request) || opensOrEnds.has(operation.whileSuspended))
    if (!mayBeNobody || !(error instanceof AppError) || error.status >= 500) throw error
    return { account: null, session: null, ip, userAgent: '' }
  })
}

/** Identifies an admin by headers. A session beside them must be of the same account. */
async function identifyAdmin(
  door: HttpDoor,
  proof: AdminProof,
  request: Request,
  seen: { ip: string; userAgent: string },
): Promise<Caller> {
  const admin = await door.identifyAdmin(proof, { ...seen, origin: request.get('host') ?? null })
  const account = await accountBeside(door, request, seen)
  if (account !== null && !isSameAccount(account, admin.account))
    throw new AppError('VALIDATION_ERROR', { message: 'Two different credentials' })
  return admin
}

/**
 * The account of the session in a request; null without one, or for an expired cookie, which browsers send
 * automatically.
 */
async function accountBeside(
  door: HttpDoor,
  request: Request,
  seen: { ip: string; userAgent: string },
): Promise<string | null> {
  const credential = credentialOf(request, door.kernel.node.settings.publicUrl)
  if (credential === null) return null
  try {
    return (await door.identify(credential, seen)).account
  } catch (error) {
    if (hasBearer(request) || !(error instanceof AppError) || error.status !== 401) throw error
    return null
  }
}
