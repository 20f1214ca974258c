import { AppError } from '#shared/errors'
import type { AnswerOf, CallOf, Operation } from '#shared/kit/contract'
import type { Bound, CallAs, Caller } from './context.ts'
import { newId } from './ids.ts'
import { invoke, type Kernel } from './invoke.ts'

/** Calls operations for callers within the server, such as the demo and jobs. */
export function createCallAs(kernel: Kernel, bound: readonly Bound[]): CallAs {
  const byOperation = new Map(bound.map((one) => [one.operation, one]))
  return async <O extends Operation>(account: string, operation: O, input: CallOf<O>) => {
    const found = byOperation.get(operation)
    if (!found) throw new AppError('NOT_FOUND')
    const caller = callerFor(account)
    const nowhere = () => undefined
    const { signal } = new AbortController()
    const { output } = await invoke(kernel, found, operation.input, input, {
      door: 'inside',
      caller,
      recognise: async () => caller,
      requestId: newId(),
      askedAt: performance.now(),
      origin: null,
      isLocal: false,
      connection: null,
      browser: null,
      http: null,
      gone: () => signal,
      onAnswer: nowhere,
      onRate: nowhere,
    })
    return output as AnswerOf<O>
  }
}

const callerFor = (account: string): Caller => ({
  account,
  session: {
    id: `inside:${account}`,
    authMethod: 'service',
    chainId: null,
    passkeyCredentialId: null,
    expiresAt: Number.MAX_SAFE_INTEGER,
    provenAt: null,
    userId: account,
  },
  ip: 'inside',
  userAgent: 'inside',
})
