import { textCatalog } from './catalog.ts'

export const connectionTexts = textCatalog('connection', {
  caughtUp: 'Caught up: {events, plural, one {# event} other {# events}}, {gaps, plural, one {# gap} other {# gaps}}',
  problems: {
    offline: 'You’re offline. Messages you write are sent when you’re back online.',
    rest: 'Limited connection. New messages may arrive with a delay.',
    closed: 'Disconnected. Reload the page to reconnect.',
    cut: 'You disconnected. Messages you write are sent when you reconnect.',
  },
  reconnect: 'Reconnect',
})
