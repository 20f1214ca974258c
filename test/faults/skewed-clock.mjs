// Imported before a server: its clock is off by CLOCK_SKEW_SECONDS, as a machine's may be.
const skew = 1_000 * Number(process.env.CLOCK_SKEW_SECONDS)
const { now } = Date

Date.now = () => now() + skew
globalThis.Date = new Proxy(Date, {
  apply: () => String(new Date()),
  construct: (target, given, made) => Reflect.construct(target, given.length > 0 ? given : [Date.now()], made),
})
