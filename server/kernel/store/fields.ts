/** Common fields in the schemas of models. */

/** A required text. */
export const required = { type: String, required: true } as const
/** A text, or null. */
export const optional = { type: String, default: null } as const
/** A required time. */
export const moment = { type: Date, required: true } as const
/** A time, or null. */
export const later = { type: Date, default: null } as const
