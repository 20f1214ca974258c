/** One change that breaks a promise or a rule, and the test that must notice it. */
export interface Mutation {
  /** What the changed code does wrong. */
  name: string
  /** The rule, promise or row that it breaks. */
  breaks: string
  file: string
  /** Found exactly once in the file. */
  find: string
  put: string
  caughtBy: Suite
}

/** Where tests are: a project of `vitest.config.ts`, a file, and a part of their titles where the file is long. */
export interface Suite {
  project: string
  file: string
  title?: string
  /** Can it run only with a MongoDB at `MONGODB_URI`? */
  needsMongo?: true
}

/** A pattern that finds a text as it is written. */
export const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The text with the mutation in it. Throws where the snippet is not there exactly once, or changes nothing. */
export function mutated(text: string, { name, file, find, put }: Mutation): string {
  const places = text.split(find).length - 1
  if (find === put || places !== 1)
    throw new Error(
      `"${name}": its snippet is ${places} times in ${file}, and must be there once. Bring it up to date in test/mutations/list.`,
    )
  return text.replace(find, () => put)
}
