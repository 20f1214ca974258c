import type { bookedCallTexts as english } from '../booked-calls.ts'
import type { TextTranslation } from '../catalog.ts'

export const bookedCallTexts: TextTranslation<typeof english> = {
  title: 'Anrufe',
  pages: {
    current: 'Bevorstehend',
    past: 'Vorbei, abgesagt',
  },
  none: 'Es gibt keine.',
  minutes: '{count} min',
  isCancelled: 'abgesagt',
  paid: {
    pending: 'wird bezahlt',
    paid: 'bezahlt',
    refunded: 'erstattet',
  },
  cancelled: {
    kept: 'Abgesagt. Die Zahlung wird von hier aus nicht erstattet.',
    withdrawn: 'Abgesagt. Es wurde nichts abgebucht.',
    unknown: 'Abgesagt. Ob etwas abgebucht wurde, ist noch nicht bekannt.',
  },
  unbooked:
    'nicht gebucht; bis {time} kann noch etwas abgebucht werden. Was abgebucht wurde, gilt für einen anderen Termin: Buche ihn in diesem Browser',
  reason: 'Grund: {reason}',
  open: 'Öffnen',
  openOne: 'Öffnen: {time}',
  copyLink: 'Link kopieren',
  copyLinkOne: 'Link kopieren: {time}',
  copied: 'Kopiert',
  cancel: 'Absagen',
  cancelOne: 'Absagen: {time}',
  cancelPaid: 'Ohne Erstattung absagen',
  dialog: {
    title: 'Diesen Anruf absagen?',
    text: 'Der Anruf am <b>{time}</b> findet nicht statt, und sein Termin ist wieder frei.',
    paid: 'Die Zahlung wird von hier aus nicht erstattet.',
    reason: 'Grund (optional)',
    keep: 'Anruf behalten',
    cancel: 'Anruf absagen',
  },
  share: {
    title: 'Deine Seite',
    on: 'Alle können einen Anruf mit dir buchen',
    slug: 'Dein eigenes Wort in der Adresse, wenn du magst',
    slugHint: '3 bis 30 Kleinbuchstaben, Ziffern und Bindestriche',
    unpayable: 'Anrufe mit Preis können nicht gebucht werden: Zahlungen in ihrem Netzwerk sind hier nicht möglich.',
    copy: 'Kopieren',
    copyAddress: 'Adresse deiner Seite kopieren',
    save: 'Speichern',
    saved: 'Gespeichert.',
  },
  problems: {
    EMAIL_NOT_VERIFIED:
      'Füge zuerst unter „Anmeldung & Sicherheit“ eine E-Mail-Adresse hinzu: E-Mails zu Anrufen gehen dorthin.',
    SLUG_TAKEN: 'Diese Adresse ist vergeben. Wähle eine andere.',
  },
}
