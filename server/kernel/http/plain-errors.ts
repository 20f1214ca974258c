/** Errors whose messages describe a fault of the installation. */
const operatorCodes = ['EBUSY', 'EDAMAGED', 'ENOSPC']

/**
 * The sentence for operators about an error of the start or of a tool; null for a bug. `known` are errors with messages
 * for operators. `variables` is the prefix of the variables of a listener, `variable` the one of a path.
 */
export function operatorSentenceOf(
  error: unknown,
  ...known: readonly (new (
    ...given: never[]
  ) => Error)[]
): string | null {
  if (!(error instanceof Error)) return null
  const { code, syscall, path, message, variables = '', variable } = error as NodeJS.ErrnoException & Blamed
  if (known.some((each) => error instanceof each)) return message
  if (typeof code !== 'string') return null
  if (code.startsWith('ERR_PARSE_ARGS')) return message
  if (syscall === 'listen') {
    const names = code === 'EADDRNOTAVAIL' ? `${variables}HOST` : `${variables}HOST or ${variables}PORT`
    return `${names} cannot be used: ${message.replace(/^listen \w+: /, '')} (${code}).`
  }
  if (syscall === 'getaddrinfo')
    return `${variables}HOST cannot be used: ${message.replace(/^getaddrinfo \w+ /, '')} is not known (${code}).`
  if (syscall && path)
    return `${variable ? `${variable}: ` : ''}${path} cannot be used: ${reasonIn(message)} (${code}).`
  return operatorCodes.includes(code) ? message : null
}

interface Blamed {
  variables?: string
  variable?: string
}

/** `not a directory` of `ENOTDIR: not a directory, mkdir '/data'`. */
const reasonIn = (message: string): string => /^\w+: ([^,]+)/.exec(message)?.[1] ?? message
