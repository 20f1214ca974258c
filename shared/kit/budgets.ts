/** What searching the words of one text may cost, in steps of about five nanoseconds; `VERDICT_STEPS` sets another number. */
export const stepsOfAText = 8_000_000
