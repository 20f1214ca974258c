import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { docsRoutes } from '#server/kernel/docs'
import { mountRaw } from '#server/kernel/http/raw-route'

const built = mkdtempSync(join(tmpdir(), 'plaza-docs-'))
let server: Server
let url: string
beforeAll(async () => {
  for (const name of ['openapi.json', 'asyncapi.json']) writeFileSync(join(built, name), '{}')
  const app = express()
  mountRaw(app, docsRoutes(built))
  mountRaw(app, [
    { path: '/{*path}', answer: 'json', give: () => false },
    { path: '/next', answer: 'html', give: (_request, response) => Boolean(response.send('here')) },
  ])
  server = createServer(app).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  rmSync(built, { recursive: true, force: true })
})

const seen = new Map<string, string>()

/** Everything a page asks for, and what that asks for in turn. */
async function follow(path: string): Promise<void> {
  if (seen.has(path)) return
  const answer = await fetch(url + path)
  const text = await answer.text()
  seen.set(path, `${answer.status} ${answer.headers.get('content-type')}`)
  if (/swagger-ui|socket\.io/.test(path)) return
  const asked = text.matchAll(/(?:src|href)="(\/docs[^"#]*)"|from '\.(\/[\w.]+\.js)'/g)
  for (const [, absolute, beside] of asked) await follow(absolute ?? `/docs${beside}`)
}

test('the pages ask this server alone, and everything they ask for is there, in UTF-8', async () => {
  await follow('/docs')
  expect(seen.size).toBeGreaterThan(12)
  expect([...seen].filter(([, answer]) => !/^200 .*; charset=utf-8$/.test(answer))).toEqual([])
})

test('a route that has nothing at a path leaves it to the next one, and what nobody has is not found', async () => {
  const ask = (path: string) => fetch(url + path, { signal: AbortSignal.timeout(3_000) })
  const answer = await ask('/next')
  expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['text/html; charset=utf-8', 'here'])
  expect((await ask('/nowhere')).status).toBe(404)
})

test.each(['/docs', '/docs/rest'])('%s has no script of its own inside, and no address of elsewhere', async (path) => {
  const page = await (await fetch(url + path)).text()
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|javascript:|https?:\/\//)
})

test('a document that is not built is not found, and the answer names the command', async () => {
  rmSync(built, { recursive: true })
  const answer = await fetch(`${url}/docs/openapi.json`)
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('npm run build')])
  expect((await fetch(`${url}/docs`)).status).toBe(200)
})
