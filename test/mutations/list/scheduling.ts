import type { Mutation } from '../mutation.ts'
import { bookingCards, schedulingSettings, slots } from './suites.ts'

/** Which times can be booked. */
export const scheduling: readonly Mutation[] = [
  {
    name: 'clocks of a zone are taken to be never changed',
    breaks: 'scheduling',
    file: 'server/domains/scheduling/open-time.ts',
    find: 'if (offsetAt(after) === offset) continue',
    put: 'if (offsetAt(after) !== -1) continue',
    caughtBy: slots,
  },
  {
    name: 'an hour that is there twice ends a window',
    breaks: 'scheduling',
    file: 'server/domains/scheduling/open-time.ts',
    find: 'if (before?.on === on && before.end === from) before.end = to',
    put: 'if (before?.on === on && before.end > from) before.end = to',
    caughtBy: slots,
  },
  {
    name: 'a slot may follow a busy time without the buffer',
    breaks: 'scheduling',
    file: 'server/domains/scheduling/slots.ts',
    find: 'one.end > start - buffer)',
    put: 'one.end > start)',
    caughtBy: slots,
  },
  {
    name: 'a window that opens within the notice is offered',
    breaks: 'scheduling',
    file: 'server/domains/scheduling/slots.ts',
    find: 'first !== undefined && first.start >= notBefore',
    put: 'first !== undefined',
    caughtBy: slots,
  },
  {
    name: 'settings that are written at the same time are written over',
    breaks: 'scheduling',
    file: 'server/domains/scheduling/own-settings.ts',
    find: 'Settings.updateOne({ _id: account, updated_at: before }, change)',
    put: 'Settings.updateOne({ _id: account }, change)',
    caughtBy: schedulingSettings('are judged together'),
  },
  {
    name: 'a window loses its zone where a change names none',
    breaks: 'scheduling',
    file: 'server/domains/scheduling/windows.ts',
    find: '...(timezone === undefined ? {} : { timezone })',
    put: "timezone: timezone ?? 'UTC'",
    caughtBy: schedulingSettings('are added, changed'),
  },
  {
    name: 'the model is told the free times',
    breaks: 'T28',
    file: 'server/domains/agents/gather.ts',
    find: '...(scheduling ? [cardIsShown] : [])',
    put: "...(scheduling ? [{ source: 'scheduling', text: JSON.stringify(scheduling) }] : [])",
    caughtBy: bookingCards,
  },
  {
    name: 'a card tells of calls that are turned off',
    breaks: 'scheduling',
    file: 'server/domains/scheduling/card.ts',
    find: 'settings.scheduling_enabled && settings.scheduling_paid_enabled',
    put: 'settings.scheduling_paid_enabled',
    caughtBy: { ...bookingCards, title: 'a card tells' },
  },
]
