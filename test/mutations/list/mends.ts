import type { Mutation } from '../mutation.ts'
import { catchUp, concerns, log, neighbours, poison, raced } from './suites.ts'

/** What a review found, each broken again as it was. */
export const mends: readonly Mutation[] = [
  {
    name: 'what no store can hold is sent to the store',
    breaks: 'M41',
    file: 'server/log/turn.ts',
    find: 'checkStorable(entry.body)',
    put: '',
    caughtBy: poison,
  },
  {
    name: 'what was never sent is tried again',
    breaks: 'M41',
    file: 'server/log/append.ts',
    find: 'if (core.isNeverSent?.(failure.error) ||',
    put: 'if (',
    caughtBy: poison,
  },
  {
    name: 'what is read may be rolled back',
    breaks: 'M42',
    file: 'server/ports/database/mongo.ts',
    find: "readConcern: { level: 'majority' },\n  readConcernLevel: 'majority',",
    put: '',
    caughtBy: concerns,
  },
  {
    name: 'a refusal that is thrown is given on an old view',
    breaks: 'M43',
    file: 'server/log/turn.ts',
    find: 'return draft.isComplete() ? { refuse: error } : null',
    put: 'if (draft.isComplete()) waiting.refuse(error)\n    return null',
    caughtBy: log,
  },
  {
    name: 'a record that was made in between stays, though it is older',
    breaks: 'M44',
    file: 'server/domains/rooms/records.ts',
    find: 'return save(false)',
    put: '',
    caughtBy: raced,
  },
  {
    name: 'a row that cannot be taken stops the room',
    breaks: 'M46',
    file: 'server/log/readable.ts',
    find: '  } catch (error) {\n    quarantine(core, row, error)\n    return []\n  }\n}\n\n/** The row, or',
    put: '  } catch (error) {\n    throw error\n  }\n}\n\n/** The row, or',
    caughtBy: neighbours,
  },
  {
    name: 'a page goes beyond the head that was judged',
    breaks: 'M47',
    file: 'server/domains/messages/listen.ts',
    find: 'Math.min(input.limit, head - after)',
    put: 'input.limit',
    caughtBy: catchUp,
  },
  {
    name: 'who may read is not looked at again after a wait',
    breaks: 'M50',
    file: 'server/domains/messages/listen.ts',
    find: 'return (await isThere()) ? (await readable(context, room)).seq : after',
    put: 'return room && (await isThere()) ? (await log.head(key)).seq : after',
    caughtBy: catchUp,
  },
  {
    name: 'the hash of an entry leaves out what it says',
    breaks: 'M49',
    file: 'server/log/chain.ts',
    find: 'const said = v < 2 ? [] : [v, body]',
    put: 'const said = v < 2 ? [] : body ? [v] : []',
    caughtBy: log,
  },
]
