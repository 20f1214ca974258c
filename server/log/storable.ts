import { AppError } from '#shared/errors'
import { isFieldName } from '#shared/kit/field-name'

const maxDepth = 100
const maxBytes = 16 * 1_024 * 1_024
/** The most bytes of UTF-8 for one unit of UTF-16. */
const bytesAUnit = 3
const bytesAValue = 16

/** Refuses a body that the encoder of either store refuses, as each repeat of the insert would fail too. */
export function checkStorable(body: object): void {
  const fault = faultOf(body)
  if (fault !== null) throw new AppError('VALIDATION_ERROR', { message: `This cannot be stored: ${fault}` })
}

function faultOf(body: object): string | null {
  let level: unknown[] = [body]
  let bytes = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return 'nested too deep'
    const next: unknown[] = []
    for (const value of level) {
      bytes += bytesAValue
      if (typeof value === 'string') bytes += value.length * bytesAUnit
      else if (Array.isArray(value)) for (const item of value) next.push(item)
      else if (isFields(value)) {
        for (const name in value) {
          if (!isFieldName(name)) return 'the name of a field'
          bytes += name.length * bytesAUnit
          next.push(value[name])
        }
      } else if (!isScalar(value)) return 'the type of a value'
    }
    if (bytes > maxBytes) return 'too large'
    level = next
  }
  return null
}

const isScalar = (value: unknown): boolean => value == null || typeof value === 'number' || typeof value === 'boolean'

function isFields(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
