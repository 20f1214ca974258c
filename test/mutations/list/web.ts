import type { Mutation, Suite } from '../mutation.ts'
import { outbound } from './suites.ts'

const markdown = (title: string): Suite => ({ project: 'unit', file: 'test/client/markdown.test.ts', title })
const markup = (title: string): Suite => ({ project: 'unit', file: 'test/unit/markup.test.ts', title })

/** Asking URLs that people name, and linking them. */
export const web: readonly Mutation[] = [
  {
    name: 'a link does not say where it leads',
    breaks: 'T26',
    file: 'client/web/messages/outer-link.tsx',
    find: 'words === undefined ? null : unsaidHost(href, words)',
    put: 'null',
    caughtBy: markdown('in a message and in an answer'),
  },
  {
    name: 'a citation does not say where it leads',
    breaks: 'T26',
    file: 'client/web/messages/citations.tsx',
    find: 'const host = unsaidHost(url, title)',
    put: 'const host = null',
    caughtBy: markdown('in a citation'),
  },
  {
    name: 'letters that look like others pass for the host',
    breaks: 'T26',
    file: 'shared/kit/addresses.ts',
    find: ' && saidHost.toLowerCase() === host',
    put: '',
    caughtBy: markup('under the words'),
  },
  {
    name: 'an address that names a user is a link',
    breaks: 'T26',
    file: 'shared/kit/addresses.ts',
    find: '[^/\\\\?#@]+',
    put: '[^/\\\\?#]+',
    caughtBy: markdown('and is none where its address names a user'),
  },
  {
    name: 'a name that leads inward is dialled',
    breaks: 'T15',
    file: 'server/ports/web/guarded.ts',
    find: ' || !addresses.every(isPublic)',
    put: '',
    caughtBy: outbound('is not dialled'),
  },
  {
    name: 'one public address of a name is enough',
    breaks: 'T15',
    file: 'server/ports/web/guarded.ts',
    find: '!addresses.every(isPublic)',
    put: '!addresses.some(isPublic)',
    caughtBy: outbound('is not dialled'),
  },
  {
    name: 'a redirect is followed wherever it leads',
    breaks: 'T15',
    file: 'server/ports/web/guarded.ts',
    find: 'url = publicUrl(new URL(next, url).href, egress)',
    put: 'url = new URL(next, url)',
    caughtBy: outbound('is not followed'),
  },
  {
    name: 'keys go to the host that a redirect names',
    breaks: 'T15',
    file: 'server/ports/web/guarded.ts',
    find: 'const own = url.origin === first.origin ? headers : {}',
    put: 'const own = headers',
    caughtBy: outbound('carries no header of the caller'),
  },
  {
    name: 'bytes are counted as they are packed',
    breaks: 'T15',
    file: 'server/ports/web/guarded.ts',
    find: '    for await (const part of unpacked) {\n      bytes += part.byteLength',
    put: '    for await (const part of unpacked) {\n      bytes += unpacked === body ? part.byteLength : 0',
    caughtBy: outbound('ends with a refusal'),
  },
]
