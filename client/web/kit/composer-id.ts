/** The field in which messages are written. Alone here: the first screen needs it, and nothing else about focus. */
export const composerId = 'composer'
