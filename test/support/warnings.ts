/** What Node says of itself: a leak of listeners, or a call that will not be there for long. */
const fatal = ['MaxListenersExceededWarning', 'DeprecationWarning']
/** Emitted when garbage is collected, during any test. */
const late = 'DEP0137'
const heard: Error[] = []

process.on('warning', (warning) => {
  if (fatal.includes(warning.name) && !('code' in warning && warning.code === late)) heard.push(warning)
})

/** Throws what was heard since it was last asked; a warning comes a moment after its cause. */
export async function refuseWarnings(): Promise<void> {
  await new Promise(setImmediate)
  const [first, ...others] = heard.splice(0)
  if (first) throw new Error(`${first.name}${others.length > 0 ? ` and ${others.length} more` : ''}: ${first.stack}`)
}
