import type { Mutation } from '../mutation.ts'
import { outbound } from './suites.ts'

/** Asking URLs that people name. */
export const web: readonly Mutation[] = [
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
