import { z } from 'zod'
import { defineEvent, patchFact, setFact } from '#server/domains/rooms/events/define'
import { type CurrentEpochFact, EnvelopeBatch, type EpochFact, keys } from '../facts.ts'

const epochData = ({ epoch_id, by, envelopes }: z.infer<typeof EnvelopeBatch> & { epoch_id: string }) => ({
  epoch_id,
  device_id: by.device_id,
  device_ids: envelopes.map(({ device_id }) => device_id),
})

export const epochStarted = defineEvent('epoch.started', {
  body: EnvelopeBatch.extend({ epoch_id: z.string() }),
  changes: ({ seq, at }, { epoch_id, by, envelopes }) => [
    setFact(keys.epoch(epoch_id), { epoch_id, seq, at, lots: [{ by, envelopes }] } satisfies EpochFact),
    setFact(keys.currentEpoch, {
      epoch_id,
      device_ids: envelopes.map(({ device_id }) => device_id),
      is_over: false,
    } satisfies CurrentEpochFact),
  ],
  data: (_row, body) => epochData(body),
})

export const epochShared = defineEvent('epoch.shared', {
  body: EnvelopeBatch.extend({ epoch_id: z.string() }),
  changes: (_row, { epoch_id, by, envelopes }) => [
    patchFact<EpochFact>(keys.epoch(epoch_id), (epoch) => ({ ...epoch, lots: [...epoch.lots, { by, envelopes }] })),
    patchFact<CurrentEpochFact>(keys.currentEpoch, (current) =>
      current.epoch_id === epoch_id
        ? { ...current, device_ids: [...new Set([...current.device_ids, ...envelopes.map((one) => one.device_id)])] }
        : current,
    ),
  ],
  data: (_row, body) => epochData(body),
})
