import { childrenOf, everythingIn, nameOf, programOf, type Source, type Syntax } from './sources.ts'

/** Whether a file is a catalog of the page: its texts in English. */
export const isCatalog = (path: string): boolean =>
  /^client\/web\/texts\/[\w-]+\.ts$/.test(path) && !/(catalog|language)\.ts$/.test(path)

/** The texts of catalogs or of their translations: the name of a catalog, a key, and for those of a group a key of it. */
export function catalogTextsOf({ path, code }: Pick<Source, 'path' | 'code'>): Map<string, string> {
  const texts = new Map<string, string>()
  const walk = (node: Syntax, before: string): void => {
    for (const child of childrenOf(node)) {
      const value = child.value as Syntax
      if (child.type !== 'Property') walk(child, before)
      else if (value.type === 'ObjectExpression') walk(value, `${before}${nameOf(child.key)}.`)
      else texts.set(`${before}${nameOf(child.key)}`, nameOf(value))
    }
  }
  for (const node of everythingIn(programOf(path, code)))
    if (node.type === 'VariableDeclarator') walk(node, `${nameOf(node.id)}.`)
  return texts
}
