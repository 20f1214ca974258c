import { describe, expect, test } from 'vitest'
import { everythingIn, isSyntax, nameOf, parse, programOf, type Source, type Syntax, sourcesOf } from './sources.ts'

/** What is called so holds the id of an account, or another address that has one meaning in either case. */
const ofAccounts = /^(account|address|sender)$|(_address|_account|Address|Account)$/

/** The one place that compares them. */
const comparing = 'shared/kit/accounts.ts'

const wrappers = new Set(['TSNonNullExpression', 'TSAsExpression', 'ChainExpression', 'ParenthesizedExpression'])
const bare = (node: Syntax): Syntax =>
  wrappers.has(node.type) && isSyntax(node.expression) ? bare(node.expression) : node

function lastName(given: Syntax): string {
  const node = bare(given)
  if (node.type === 'Identifier') return nameOf(node)
  if (node.type === 'CallExpression' && isSyntax(node.callee)) return lastName(node.callee)
  return node.type === 'MemberExpression' && !node.computed ? nameOf(node.property) : ''
}

/** A value that is written out: a text, null, undefined. */
const isLiteral = (given: Syntax): boolean => {
  const node = bare(given)
  return node.type === 'Literal' || node.type === 'UnaryExpression' || nameOf(node) === 'undefined'
}

/** Where two accounts are compared as texts. */
function compared({ path, code }: Source): string[] {
  if (path === comparing) return []
  return everythingIn(programOf(path, code)).flatMap((node) => {
    const { left, right, operator } = node
    if (node.type !== 'BinaryExpression' || !/^[!=]==?$/.test(String(operator))) return []
    if (!isSyntax(left) || !isSyntax(right) || isLiteral(left) || isLiteral(right)) return []
    const named = [left, right].find((side) => ofAccounts.test(lastName(side)))
    return named ? [`${path}: ${lastName(left) || '…'} ${operator} ${lastName(right) || '…'}`] : []
  })
}

describe('O30: accounts', () => {
  test('are compared by one function, `isSameAccount`, and never as texts', () => {
    expect(sourcesOf('server', 'client', 'shared').flatMap(compared)).toEqual([])
  })

  test.each([
    'a.sender === account',
    'if (wallet?.address !== account) throw a',
    'list.filter(({ user_address }) => user_address === who)',
    'const a = row.sender_address == me',
    'client.account() === other',
    'targetAddress! === (account as string)',
  ])('that law sees: %s', (code) => expect(compared(parse('server/a.ts', code))).toHaveLength(1))

  test.each([
    'account === null',
    "address !== ''",
    'wallet_address === undefined',
    'typeof address === other',
    'isSameAccount(a.sender, account)',
    'account.length === other',
  ])('that law lets pass: %s', (code) => expect(compared(parse('server/a.ts', code))).toEqual([]))
})
