const prefix = 'agent:'

/** The account by which an agent speaks in rooms. */
export const accountOfAgent = (id: string): string => prefix + id
export const isAgent = (account: string): boolean => account.startsWith(prefix)
/** Null where the account is a person's. */
export const idOfAgent = (account: string): string | null => (isAgent(account) ? account.slice(prefix.length) : null)

/** Code comes first: what looks like a mention within it is none. */
const mention = /`[^`\n]*`|@\[([^\]\n]{1,200})\]\(([A-Za-z0-9_-]{1,64})\)/g

/** Where a text mentions agents as `@[name](id)`. The name says nothing: it may be anybody's. */
export const agentMentionsIn = (text: string): { name: string; id: string; written: string }[] =>
  [...text.matchAll(mention)].flatMap(([written, name, id]) => (name && id ? { name, id, written } : []))

/** The text as it is read, with plain names. */
export const withPlainNames = (text: string): string =>
  text.includes('@[') ? text.replace(mention, (written, name?: string) => (name ? `@${name}` : written)) : text

/** The inverse: plain names in a text become mentions again, as another text has them. */
export const withIdsOf = (mentioning: string, text: string): string =>
  agentMentionsIn(mentioning).reduce((now, { name, written }) => {
    const at = now.indexOf(`@${name}`)
    return at < 0 ? now : now.slice(0, at) + written + now.slice(at + name.length + 1)
  }, text)
