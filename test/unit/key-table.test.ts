import { expect, test } from 'vitest'
import { actionOf, isPress, type KeyAction, keyNames, keyParts } from '#client/web/keys/key-table'

const held = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
const press = (key: string, more: Partial<typeof held & { code: string }> = {}) => ({ key, code: '', ...held, ...more })
const always = () => true

test('the held keys of a press are those of its row, and no others', () => {
  expect(isPress('mod+k', press('k', { ctrlKey: true }), false)).toBe(true)
  expect(isPress('mod+k', press('K', { ctrlKey: true, shiftKey: true }), false)).toBe(false)
  expect(isPress('mod+k', press('k', { ctrlKey: true, altKey: true }), false)).toBe(false)
  expect(isPress('mod+k', press('k'), false)).toBe(false)
  expect(isPress('alt+arrowup', press('ArrowUp', { altKey: true, shiftKey: true }), false)).toBe(false)
  expect(isPress('arrowup', press('ArrowUp', { altKey: true }), false)).toBe(false)
  expect(isPress('d', press('D', { shiftKey: true }), false)).toBe(true)
})

test('on a Mac, Command stands for Control, which keeps its own meaning there', () => {
  expect(isPress('mod+k', press('k', { metaKey: true }), true)).toBe(true)
  expect(isPress('mod+k', press('k', { ctrlKey: true }), true)).toBe(false)
  expect(isPress('mod+k', press('k', { metaKey: true }), false)).toBe(false)
})

test('a layout may need Shift for a sign, and may have no Latin letters', () => {
  expect(isPress('mod+/', press('/', { ctrlKey: true, shiftKey: true }), false)).toBe(true)
  expect(isPress('?', press('?', { shiftKey: true }), false)).toBe(true)
  expect(isPress('mod+k', press('л', { ctrlKey: true, code: 'KeyK' }), false)).toBe(true)
  expect(isPress('mod+k', press('t', { ctrlKey: true, code: 'KeyK' }), false)).toBe(false)
})

test('a field, a dialog and a menu keep their keys, unless the row says otherwise', () => {
  const question = press('?', { shiftKey: true })
  expect(actionOf(question, 'page', always)).toBe('list')
  for (const place of ['field', 'dialog', 'menu'] as const) expect(actionOf(question, place, always)).toBeNull()
  const search = press('k', { ctrlKey: true })
  expect((['page', 'field', 'dialog', 'menu'] as const).map((place) => actionOf(search, place, always))).toEqual([
    'switcher',
    'switcher',
    'switcher',
    null,
  ])
})

test('of two actions of a press, the first that is bound runs; a press of none is left to the browser', () => {
  const pressed = press('Escape')
  expect(actionOf(pressed, 'field', always)).toBe('closePanel')
  expect(actionOf(pressed, 'field', (action) => action === 'markRead')).toBe('markRead')
  expect(actionOf(pressed, 'field', () => false)).toBeNull()
})

test('each action is listed once, with the names of its keys', () => {
  const listed = keyParts.flatMap(({ actions }) => actions)
  expect(new Set(listed).size).toBe(listed.length)
  const names = (action: KeyAction) => keyNames(action).map((one) => one.join('+'))
  expect(names('list').at(0)).toBe('?')
  expect(names('deleteMessage')).toEqual(['D'])
  expect(names('nextUnread')).toEqual(['Alt+Shift+↓'])
})
