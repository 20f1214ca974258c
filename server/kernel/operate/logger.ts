import pino from 'pino'

/** Structured lines of selected fields; never a body, a header or a token. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const createLogger = (level: string): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    pino.destination({ dest: 1, sync: false }),
  )
