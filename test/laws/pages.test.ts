import { describe, expect, it } from 'vitest'
import { spellingsOf } from '#server/kernel/http/http-input'
import { api } from '#shared/api/index'
import { calendarCallback } from '#shared/api/meetings/calendar'
import { expandRoute, operationsOf } from '#shared/kit/contract'
import { linkTo, type PageName, pageAt, pagePaths } from '#shared/kit/pages'
import { filesUnder, textOf } from './sources.ts'

const places = [...new Set(Object.values(pagePaths).map((path) => path.split('/')[1]))].filter(Boolean).join('|')
/** A link, or a step of the history, to a path that is written by hand. */
const byHand = new RegExp(
  `(?:href=\\{?|(?:navigate|assign|url:|origin \\+|origin\\}|Url\\}|Url \\+)\\s*\\(?)\\s*['"\`]?(#/|/#/|/(?:${places})(?=[/'"\`?])|/['"])`,
  'g',
)
const pathsIn = (code: string) => [...code.matchAll(byHand)].map(([found]) => found)

describe('links to pages are made by the table of their paths', () => {
  it('in the page, in what is pushed, and in letters', () => {
    const files = [...filesUnder('client/web'), ...filesUnder('server/domains')].filter((path) => /\.tsx?$/.test(path))
    expect(files.flatMap((path) => pathsIn(textOf(path)).map((found) => `${path}: ${found}`))).toEqual([])
  })

  it('catches what is planted', () => {
    const planted = [
      '<a href="#/friends">',
      '<a href="/">',
      'href={`/schedule/`}',
      "location.assign('/calls')",
      "navigate('/rooms/alpha')",
      "url: '/#/friends'",
      'publicUrl}/join/`',
    ]
    for (const code of planted) expect(pathsIn(code), code).toHaveLength(1)
    for (const code of ["<a href={linkTo('home')}>", '<a href="/docs">', "url: '/api/rooms'"])
      expect(pathsIn(code), code).toEqual([])
  })
})

describe('the paths of pages', () => {
  it('are those of no operation and no other route', () => {
    const paths = operationsOf(api).flatMap(({ operation }) =>
      spellingsOf(operation).flatMap(({ route }) => expandRoute(route).map(({ path }) => path)),
    )
    expect(paths.length).toBeGreaterThan(100)
    const others = [
      '/docs',
      '/dev/mail',
      '/files/one',
      '/livez',
      '/readyz',
      '/metrics',
      '/assets/one',
      calendarCallback,
    ]
    expect([...paths, ...others].filter((path) => pageAt(path) !== null)).toEqual([])
  })
})

describe('a click on a notice', () => {
  it('leads away from pages for accounts alone: meetings and other pages for everyone stay as they are', () => {
    const [, pattern = ''] = /const leftAlone = \/(.+)\/$/m.exec(textOf('client/web/public/sw.js')) ?? []
    const params = new Proxy({}, { get: () => 'one' })
    const rows = [...textOf('client/web/pages.tsx').matchAll(/^ {2}(\w+): \{\s*who: '(\w+)'/gm)]
    expect(rows.map(([, name]) => name).sort()).toEqual(Object.keys(pagePaths).sort())
    for (const [, name, who] of rows) {
      const path = linkTo(name as PageName, params as never)
      expect(new RegExp(pattern).test(path), path).toBe(who === 'everyone')
    }
  })
})
