import { cut } from './cut.ts'

const most = 200

/** What a reply quotes of a text. */
export const quoteText = (text: string): string => cut(text, most)
