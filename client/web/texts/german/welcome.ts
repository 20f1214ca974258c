import type { SimpleTranslation } from '../simple-catalog.ts'
import type { welcomeTexts as english } from '../welcome.ts'

export const welcomeTexts: SimpleTranslation<typeof english> = {
  opening: 'Plaza wird geöffnet',
  openingTour: 'Der Rundgang wird geöffnet',
  wait: 'Einen Moment',
  failed: 'Plaza kann nicht geöffnet werden',
  signOut: 'Abmelden',
  live: 'Jetzt live',
  pitch: 'Chatten in Echtzeit, jede Nachricht in der richtigen Reihenfolge.',
  pitchMore:
    'Alle in einem Raum sehen dieselben Nachrichten in derselben Reihenfolge. Moderation wirkt sofort. Eine blockierte Nachricht sagt dir, warum.',
  ended: 'Du wurdest abgemeldet. Melde dich wieder an.',
  invited: '{name} lädt dich in diesen Raum ein.',
  openingLink: 'Du wirst angemeldet …',
  contact: 'Kontakt',
  link: {
    title: 'Mit diesem Link anmelden?',
    question:
      'Dieser Link meldet dich als {email} an. Er wurde in einem anderen Browser angefordert. Mach nur weiter, wenn das deine E-Mail-Adresse ist.',
    open: 'Als {email} anmelden',
    leave: 'Abbrechen',
  },
  facts: {
    verdictTitle: 'Gleiche Regeln für alle',
    verdict: 'Jede Nachricht durchläuft dieselben elf Prüfungen, ob aus der App oder über die API.',
    orderTitle: 'Eine Reihenfolge',
    order: 'Alle in einem Raum sehen dieselben Nachrichten in derselben Reihenfolge.',
    lossTitle: 'Nichts geht verloren',
    loss: 'Verlier die Verbindung und komm zurück: Jede Nachricht ist an ihrem Platz.',
  },
  guest: 'Als Gast eintreten',
  guestAgain: 'Als Gast fortfahren',
  guestConfirm: 'Als Gast bestätigen',
  guestHint:
    'Ein Gastkonto ist ein Schlüssel, der nur in diesem Browser gespeichert ist. Er funktioniert wie eine Wallet ohne Guthaben.',
  signingIn: 'Wird angemeldet …',
  ways: {
    passkey: 'Passkey',
    email: 'E-Mail',
    wallet: 'Wallet',
    worldid: 'Nachweis, ein Mensch zu sein',
    alien: 'Partnerkonto',
  },
  room: {
    members: 'Mitglieder: {count}',
    join: 'Melde dich an oder tritt als Gast bei.',
  },
  preview: {
    title: '{name}, live',
    room: 'Öffentlicher Raum',
    demo: 'Demo: Die anderen hier folgen einem Drehbuch.',
    empty: 'Noch keine Nachrichten',
    emptyHint: 'Melde dich an, um die erste zu schreiben.',
  },
  tour: 'Oder mach den Rundgang als Gast',
  steps: {
    guest: 'Als Gast eintreten',
    send: 'Eine Nachricht senden',
    verdict: 'Einen Link blockieren lassen',
    slow: 'Im Slow Mode warten',
    ask: 'Einen Agenten fragen',
    drop: 'Die Verbindung verlieren',
    moderate: 'Moderation übernehmen',
  },
  theme: {
    light: 'Helles Design verwenden',
    dark: 'Dunkles Design verwenden',
  },
}
