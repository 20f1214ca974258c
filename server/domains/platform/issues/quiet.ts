/** A text for the code host, which would write to whoever is named by `@`. */
export const namesNobody = (text: string): string => text.replace(/@(?=[\w-])/g, '@\u200b')
