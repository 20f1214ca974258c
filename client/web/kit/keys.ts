import type { KeyboardEvent } from 'react'
import { direction } from '../texts/language.ts'

/** The step along a row of an arrow key to the right. */
export const stepRight = direction === 'rtl' ? -1 : 1

/** The orientation of a row that each arrow key walks, beside or below: the types of the library leave it out. */
export const allArrows = 'both' as string as 'vertical'

/** What a browser calls a press that an input method has taken. */
const takenByInputMethod = 229

/** Whether a press belongs to the input method: Safari ends the composition before the press of Enter that ends it. */
export const isTakenPress = (event: globalThis.KeyboardEvent): boolean =>
  event.isComposing || event.keyCode === takenByInputMethod
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean => isTakenPress(nativeEvent)

/** Whether a press sends what was written. */
export const sends = (event: KeyboardEvent): boolean => event.key === 'Enter' && !event.shiftKey && !isComposing(event)
