// Modes: embedded
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { boot } from '#test/support/boot'
import { signIn, wallet } from '#test/support/wallet'

const example = /```ts\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''

test('the example of the README runs as it stands', async () => {
  expect(example.trim().split('\n')).toHaveLength(5)
  const server = await boot()
  const { sessionToken } = await signIn(server.url, wallet('reader of the README'))
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  const file = join(import.meta.dirname, `readme-${process.pid}.example.ts`)
  const source = example
    .replace("'plaza-sdk'", "'#client/sdk/index'")
    .replace('http://localhost:3000', server.url)
    .replace('token }', `token: '${sessionToken}' }`)
  writeFileSync(file, `${source}\nexport { plaza }\n`)
  try {
    const { plaza } = await import(/* @vite-ignore */ file)
    await vi.waitFor(() => expect(said).toHaveBeenCalledWith('Hello, Plaza'), 10_000)
    plaza.close()
  } finally {
    rmSync(file)
    said.mockRestore()
    await server.close()
  }
})
