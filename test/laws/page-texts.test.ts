import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogTextsOf, isCatalog } from './catalogs.ts'
import {
  childrenOf,
  filesUnder,
  isSyntax,
  nameOf,
  parse,
  programOf,
  type Source,
  type Syntax,
  textOf,
} from './sources.ts'

/** Strings of code that look like texts, by why nobody reads them. */
const unseen: Readonly<Record<string, RegExp>> = {
  'a value of the contract': /^(Other|left out|from the id|Failed to fetch)$/,
  'a fault of the code': /^(Nobody is|There is no) .+ above this component\.$|^The offer was refused with$/,
  'the name of a product': /^(Plaza( Guide)?|GitHub)$/,
  'a name of a payment standard': /^TransferWithAuthorization$/,
  'how an address begins': /^(https:\/\/|0x)$/,
  'a value of CSS': /^radial-gradient\(/,
  'a class': /^chip (warm|grave)$/,
  'a value of HTML': /^noopener noreferrer nofollow$/,
  'a part of the browser': /^(Notification|PushManager|Files|Not(Allowed|Found|Readable)Error)$/,
  'a selector': /\[\w|:is\(|^a, button, |^header button$/,
  'a path of a drawing': /^M\d/,
  'a header of HTTP': /^(Content-Type|Location)$/,
  'a font of a drawing': /^\d+ \d+px [\w, -]+$/,
  'a key of the keyboard': /^(Shift )?(Enter|Esc|Escape|Tab|Arrow(Up|Down|Left|Right))$/,
  'a question about the device': /^\((prefers|min|max|hover)[^()]*\)$/,
}

const spoken = /^(aria-label|aria-description|aria-roledescription|aria-valuetext|title|placeholder|alt|label)$/
const hasLetters = (text: string) => /\p{L}/u.test(text)
/** Several words, or one that begins as a sentence does. */
const isSentence = (text: string) => /^\s*\p{Lu}\p{Ll}|\p{L}[.,:;!?…]? \p{L}/u.test(text)

/** The visible texts in the code of a component. */
function textsIn(path: string, code: string): string[] {
  const texts: string[] = []
  const visit = (node: Syntax, isShown: boolean): void => {
    const text = literalOf(node)
    if (text !== null && (isShown ? hasLetters(text) : isSentence(text))) texts.push(text.trim())
    for (const [child, shown] of partsOf(node, isShown)) visit(child, shown)
  }
  visit(programOf(path, code), false)
  return texts.filter((text) => !Object.values(unseen).some((pattern) => pattern.test(text)))
}

function literalOf(node: Syntax): string | null {
  if (node.type === 'JSXText' || (node.type === 'Literal' && typeof node.value === 'string')) return String(node.value)
  return node.type === 'TemplateElement' ? (node.value as { cooked: string }).cooked : null
}

/** What a node holds that may be a text, and whether each literal there is shown, as below an element. */
function partsOf(node: Syntax, isShown: boolean): (readonly [Syntax, boolean])[] {
  const all = childrenOf(node)
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ImportExpression':
    case 'TSLiteralType':
      return []
    case 'JSXElement':
    case 'JSXFragment':
      return all.map((child) => [child, child.type === 'JSXText' || child.type === 'JSXExpressionContainer'])
    case 'JSXAttribute': {
      const name = nameOf(node.name)
      return /^(className|style|d|viewBox)$/.test(name) || !isSyntax(node.value)
        ? []
        : [[node.value, spoken.test(name)]]
    }
    case 'ConditionalExpression':
    case 'LogicalExpression':
      return all.map((child) => [
        child,
        isShown && child !== node.test && !(child === node.left && node.operator === '&&'),
      ])
    case 'JSXExpressionContainer':
    case 'TemplateLiteral':
      return all.map((child) => [child, isShown])
    default:
      return all.map((child) => [child, false])
  }
}

const page = filesUnder('client/web')
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
  .map((path) => parse(path, textOf(path)))
const outside = ({ path, code }: Source) => textsIn(path, code).map((text) => `${path}: ${text}`)
const catalogs = page.filter(({ path }) => isCatalog(path))

/** The keys of a catalog that no component reads. A group that is read by a variable is read whole. */
function unreadKeys(catalog: Pick<Source, 'path' | 'code'>, sources: readonly Source[]): string[] {
  const read = new Set<string>()
  for (const { path, code } of sources)
    for (const [, list = '', from = ''] of code.matchAll(/^import \{([^}]*)\} from '(\.[^']+)'$/gm)) {
      if (join(path, '..', from) !== catalog.path) continue
      const names = list.split(',').map((one) => one.trim().split(' as '))
      for (const [texts = '', name = texts] of names)
        for (const [, key = '', inGroup = '*'] of code.matchAll(
          new RegExp(`(?<![\\w.])${name}\\.(\\w+)(?:\\.(\\w+))?`, 'g'),
        ))
          read.add(`${texts}.${key}`).add(`${texts}.${key}.${inGroup}`)
    }
  return [...catalogTextsOf(catalog).keys()].filter(
    (key) => !read.has(key) && !read.has(key.replace(/^(\w+\.\w+)\..*/, '$1.*')),
  )
}

test('O87: a text of a screen is in a catalog', () => {
  expect(page.filter(({ path }) => !path.startsWith('client/web/texts/')).flatMap(outside)).toEqual([])
})

test('O87: each text of a catalog is read by a screen', () => {
  expect(catalogs.length).toBeGreaterThan(0)
  expect(catalogs.flatMap((catalog) => unreadKeys(catalog, page).map((key) => `${catalog.path}: ${key}`))).toEqual([])
})

test('O87: what is planted is found', () => {
  for (const [planted, found] of [
    ['<p>Friends</p>', ['Friends']],
    ['<p title="online" className="Big Red">{count}</p>', ['online']],
    ["<p>{isOnline ? 'online' : `away`}</p>", ['online', 'away']],
    ["<Blank name={state === 'open' ? 'star' : 'Nothing here'} />", ['Nothing here']],
    ["useLoaded('friends', () => [], state === 'Nobody is there')", ['Nobody is there']],
    ["<p>{state === 'away' && count}</p>", []],
  ] as const)
    expect(textsIn('client/web/friends/planted.tsx', `const a = ${planted}`)).toEqual(found)
  const catalog = {
    path: 'client/web/texts/a.ts',
    code: "const aTexts = textCatalog('a', { one: '', two: '', of: { x: '' } })",
  }
  const reader = "import { aTexts as t } from '../texts/a.ts'\nuse(t.one, t.of[key])"
  expect(
    unreadKeys(catalog, [{ path: 'client/web/a/b.tsx', code: reader, imports: [], names: [], exports: [] }]),
  ).toEqual(['aTexts.two'])
})
