import type { TextTranslation } from '../catalog.ts'
import type { tourTexts as english } from '../tour.ts'

export const tourTexts: TextTranslation<typeof english> = {
  title: 'Rundgang',
  position: '{number} von {count}',
  next: 'Weiter: {title}',
  end: 'Rundgang beenden',
  hints: {
    guest: 'Du bist angemeldet: Dein Browser hat einen eigenen Schlüssel erstellt. Keine Erweiterung, kein Passwort.',
    send: 'Sende sie. Die Nachricht wird deutlich, sobald sie ihren Platz im Raum hat.',
    verdict: 'Links sind hier aus. Sende sie und sieh, welche Prüfung die Nachricht blockiert hat und warum.',
    slow: 'Sende sie und sieh, wann du die nächste senden kannst. Neu laden verkürzt die Wartezeit nicht.',
    ask: 'Sende sie und lade die Seite neu, während der Agent antwortet: Die Antwort geht weiter. Halte sie dann an.',
    drop: 'Deine Verbindung ist getrennt. Schreib etwas, warte ein wenig und verbinde dich wieder: Es fehlt nichts.',
    moderate: 'Wähle eine Nachricht und schalte ihren Absender stumm: Das Live-Protokoll zeigt es sofort.',
  },
  drafts: {
    send: 'Hallo vom Rundgang',
    verdict: 'Schau dir https://example.org an',
    slow: 'Keine Eile',
    ask: 'Wie hält Plaza alle Nachrichten in der richtigen Reihenfolge, ohne eine zu verlieren? Erzähl mir alles, Schritt für Schritt.',
  },
  demo: {
    title: 'Demo',
    hint: '<strong>Demo.</strong> <said>Die anderen hier folgen einem Drehbuch.</said>',
    tour: 'Rundgang',
    drop: 'Verbindung trennen',
    hide: 'Ausblenden',
    moderate: 'Moderieren',
    elsewhere: 'Du moderierst jetzt die Räume der Demo, aber nicht diesen: Er gehört jemand anderem.',
    moderator: 'Du bist jetzt in der Moderation.',
  },
}
