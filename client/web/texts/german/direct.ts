import type { TextTranslation } from '../catalog.ts'
import type { directTexts as english } from '../direct.ts'

export const directTexts: TextTranslation<typeof english> = {
  you: 'Du',
  opening: 'Wird geöffnet',
  badge: {
    verified: 'Ende-zu-Ende-verschlüsselt',
    unverified: 'Ende-zu-Ende-verschlüsselt, nicht verifiziert',
    unavailable: 'Nachrichten können hier nicht geöffnet werden',
    stopped: 'Neue Geräte brauchen deine Zustimmung',
    sharedKey: 'Verschlüsselt gespeichert; der Betreiber hat den Schlüssel',
    told: 'Nicht geheim: eine Ankündigung von Plaza',
  },
  clear: {
    epoch: 'Nicht geheim: gesendet, bevor Direktnachrichten Ende-zu-Ende-verschlüsselt wurden.',
    'shared-key': 'Unverschlüsselt gespeichert: gesendet, bevor dieser Raum einen Schlüssel hatte.',
    system: 'Nicht geheim: an viele Personen zugleich gesendet.',
    welcome: 'Nicht geheim: an alle gesendet, die hier neu sind.',
  },
  locked: {
    'no key':
      'Diese Nachricht kann auf diesem Gerät noch nicht geöffnet werden. Sie öffnet sich, sobald ein Gerät mit ihrem Schlüssel online ist und dieses bestätigt hat.',
    untrusted:
      'Diese Nachricht kann nicht geöffnet werden: Ihr Schlüssel stammt von einem neuen Gerät, das du nicht bestätigt hast.',
    damaged: 'Diese Nachricht kann nicht geöffnet werden: Sie ist beschädigt oder wurde unterwegs verändert.',
    malformed: 'Diese Nachricht kann nicht gelesen werden: Ihr Format ist unbekannt.',
    'no storage': 'Diese Nachricht kann nicht geöffnet werden: Dieser Browser speichert keine Schlüssel.',
    'no member': 'Diese Nachricht kann nicht geöffnet werden: Nur Mitglieder dieses Raums haben ihren Schlüssel.',
  },
  news: {
    list: 'Geräte',
    forged:
      '{name}: Ein Gerät mit falschem Zertifikat gibt vor, zu diesem Konto zu gehören. Es bekommt keine Nachrichten.',
    changed: '{name}: Ein Gerät hat einen neuen Schlüssel. Vielleicht fängt jemand deine Nachrichten ab.',
    waiting: '{name} hat sich auf einem neuen Gerät angemeldet, das nicht verifiziert ist.',
    trusted: '{name} hat sich auf einem neuen Gerät angemeldet.',
    hold: 'Es wird nichts gesendet, bis du diese Geräte bestätigst. Wenn du unsicher bist, vergleiche die Sicherheitsnummer.',
    approve: 'Geräte bestätigen',
  },
  safety: {
    title: 'Sicherheitsnummer',
    who: 'Nur eure Geräte können hier Texte und Medien lesen; die Betreiber dieses Servers können es nicht. Sie sehen, wer wem wann schreibt, die Länge der Nachrichten, Reaktionen und angepinnte Nachrichten. Suche, Linkvorschauen, gesperrte Wörter und Agenten funktionieren hier nicht, weil sie die Nachrichten lesen müssten.',
    compare:
      'Vergleiche diese Nummern mit der anderen Person, in einem Anruf oder nebeneinander. Wenn sie übereinstimmen, fängt niemand eure Nachrichten ab.',
    verified: '{state} · vom Konto verifiziert · zuerst gesehen {time}',
    unverified: '{state} · nicht verifiziert · zuerst gesehen {time}',
  },
  devices: {
    trusted: 'kann Nachrichten lesen',
    waiting: 'wartet auf deine Zustimmung',
    changed: 'hat einen neuen Schlüssel',
    forged: 'hat ein falsches Zertifikat',
    'left out': 'kann keine Nachrichten lesen',
  },
  sharedKey: {
    who: 'Die Mitglieder dieses Raums teilen sich einen Schlüssel für Texte und Medien. Wer die Daten dieses Servers oder eine Sicherung stiehlt, kann sie nicht lesen, und auch niemand außerhalb des Raums.',
    operator:
      'Die Betreiber dieses Servers haben den Schlüssel und können alles lesen. Frühere Mitglieder haben ihn vielleicht behalten; er ändert sich nicht, wenn jemand geht. Ältere Nachrichten ohne Schlüssel sind gekennzeichnet.',
    limits:
      'Suche, Umfragen, Linkvorschauen, gesperrte Wörter und Agenten funktionieren hier nicht, weil sie die Nachrichten lesen müssten. Banns, Stummschaltungen, Slow Mode und Schreibschutz funktionieren.',
  },
}
