import type { TextTranslation } from '../catalog.ts'
import type { signInTexts as english, outerProblemTexts as englishOuterProblemTexts } from '../sign-in.ts'

export const signInTexts: TextTranslation<typeof english> = {
  back: 'Alle Anmeldemöglichkeiten',
  recovery: 'Passkey verloren',
  waiting: 'Wartet auf dein Gerät …',
  sending: 'Wird gesendet …',
  checking: 'Wird geprüft …',
  sendCode: 'Code senden',
  sendLink: 'Stattdessen einen Link senden',
  codeSent: 'Wir haben einen Code an <strong>{email}</strong> gesendet. Er läuft in 10 Minuten ab.',
  linkSent: 'Wir haben einen Link an <strong>{email}</strong> gesendet. Er läuft in 15 Minuten ab.',
  email: 'E-Mail-Adresse',
  emailInvalid: 'Gib eine vollständige E-Mail-Adresse ein.',
  code: '6-stelliger Code',
  resend: 'Erneut senden',
  resendIn: 'Erneut senden in {time}',
  changeTo: {
    address: 'E-Mail-Adresse ändern',
    number: 'Telefonnummer ändern',
  },
  mailbox: {
    letters: 'Dieser Server verschickt keine E-Mails: Deine findest du in seinem <mailbox>Postfach</mailbox>.',
    texts: 'Dieser Server verschickt keine SMS: Deine findest du in seinem <mailbox>Postfach</mailbox>.',
  },
  passkey: {
    hint: 'Ein Passkey wird auf deinem Gerät oder in deinem Passwortmanager gespeichert. Du entsperrst ihn mit Fingerabdruck, Gesicht oder PIN.',
    use: 'Passkey benutzen',
    create: 'Konto erstellen',
    lost: 'Passkey verloren?',
    recovered: 'Dein Konto ist bestätigt. Erstelle einen neuen Passkey dafür; die alten funktionieren weiter.',
    createNew: 'Neuen Passkey erstellen',
    codeSent: 'Wenn <strong>{email}</strong> zu einem Konto gehört, haben wir einen Code dorthin gesendet.',
    recover:
      'Gib die verifizierte E-Mail-Adresse deines Kontos ein. Wir senden einen Code, mit dem du einen neuen Passkey erstellen kannst.',
    rescue: 'Dieser Passkey wurde entfernt, aber sein Konto gibt es noch. Dessen E-Mail-Adresse sieht aus wie {email}.',
  },
  wallet: {
    hint: 'Deine Wallet bittet dich, eine Nachricht zu signieren, in der diese Website steht. Das bewegt kein Guthaben und kostet nichts.',
    waiting: 'Wartet auf deine Wallet …',
    none: 'Keine Wallet in diesem Browser',
    noneHint:
      'Installiere eine Wallet-Erweiterung oder öffne diese Seite im Browser deiner Wallet-App. Versuche es dann noch einmal.',
    injected: 'Browser-Wallet',
    solana: 'Solana-Wallet',
    noAccount: 'Die Wallet hat kein Konto zurückgegeben. Entsperre sie und wähle ein Konto.',
    unknownChain: 'Die Wallet kennt dieses Netzwerk nicht. Füge es dort hinzu und versuche es noch einmal.',
  },
  human: {
    hint: 'Erstelle in der App des Anbieters einen Nachweis für das Signal unten. Füge ihn dann hier ein.',
    signal: 'Signal',
    action: 'Aktion',
    valid: 'Gültig für einen Nachweis, noch {time}.',
    expired: 'Dieses Signal ist abgelaufen.',
    renew: 'Ein anderes anzeigen',
    proof: 'Nachweis (JSON)',
    notJson: 'Das ist kein Nachweis. Es muss JSON mit merkle_root, nullifier_hash und proof sein.',
  },
  humanProblems: {
    INVALID_SIGNATURE:
      'Dieser Nachweis ist ungültig oder wurde schon benutzt. Erstelle einen neuen für das Signal oben.',
    INVALID_NONCE: 'Dieser Nachweis wurde für ein anderes Signal erstellt. Erstelle einen neuen für das Signal oben.',
    NONCE_EXPIRED: 'Das Signal dieses Nachweises ist abgelaufen. Erstelle einen neuen für das Signal oben.',
    VALIDATION_ERROR: 'Dieser Nachweis ist unvollständig. Kopiere ihn ganz und füge ihn noch einmal ein.',
    UPSTREAM_ERROR: 'Der Dienst für Nachweise hat einen Fehler gemeldet. Versuche es später noch einmal.',
    TIMEOUT: 'Der Dienst für Nachweise hat nicht geantwortet. Versuche es später noch einmal.',
  },
  partner: {
    hint: 'Füge den Token von unserem Partner ein. Er meldet dich bei dem Konto an, das er nennt.',
    token: 'Token',
  },
  partnerProblems: {
    INVALID_SIGNATURE: 'Der Partner hat diesen Token nicht signiert. Kopiere ihn ganz und füge ihn noch einmal ein.',
    UNAUTHORIZED: 'Dieser Token ist abgelaufen oder nennt kein Konto. Bitte den Partner um einen neuen.',
    VALIDATION_ERROR: 'Dieser Token ist unvollständig. Kopiere ihn ganz und füge ihn noch einmal ein.',
    UPSTREAM_ERROR: 'Die Schlüssel des Partners können nicht geladen werden. Versuche es später noch einmal.',
    TIMEOUT: 'Der Partner hat nicht geantwortet. Versuche es später noch einmal.',
  },
  signIn: 'Anmelden',
  methods: {
    wallet: 'Ethereum-Wallet',
    solana: 'Solana-Wallet',
    passkey: 'Passkey',
    email: 'E-Mail',
    phone: 'Telefonnummer',
    worldid: 'Nachweis, ein Mensch zu sein',
    alien: 'Partnerkonto',
    service: 'Dienst-Token',
  },
  methodAdded:
    'Eine Anmeldemethode wurde hinzugefügt: {method}. Wenn du das nicht warst, gehe zu Einstellungen > Geräte.',
  methodRemoved:
    'Eine Anmeldemethode wurde entfernt: {method}. Wenn du das nicht warst, gehe zu Einstellungen > Geräte.',
  confirm: {
    title: 'Bestätige, dass du es bist',
    hint: 'Melde dich zu deiner Sicherheit mit einer deiner Methoden noch einmal an, um fortzufahren.',
  },
}

export const outerProblemTexts: TextTranslation<typeof englishOuterProblemTexts> = {
  devices: {
    NotAllowedError:
      'Dein Gerät hat nicht geantwortet, oder du hast sein Fenster geschlossen. Es wurde nichts geändert.',
    AbortError: 'Dein Gerät hat nicht geantwortet, oder du hast sein Fenster geschlossen. Es wurde nichts geändert.',
    InvalidStateError: 'Dieses Gerät hat schon einen Passkey für dieses Konto.',
    NotSupportedError: 'Dieses Gerät unterstützt solche Passkeys nicht.',
    SecurityError: 'Passkeys funktionieren unter dieser Adresse der Website nicht.',
  },
  wallets: {
    declined: 'Die Wallet hat die Anfrage abgelehnt. Es wurde nichts signiert.',
    notAllowed: 'Deine Wallet blockiert diese Website. Erlaube sie dort und versuche es noch einmal.',
    unsupported: 'Diese Wallet kann keine Nachrichten signieren.',
    disconnected: 'Deine Wallet ist nicht verbunden. Öffne sie und versuche es noch einmal.',
    pending: 'Deine Wallet hat eine offene Anfrage. Beantworte sie dort und versuche es noch einmal.',
    failed: 'Die Wallet konnte nicht signieren. Entsperre sie und versuche es noch einmal.',
  },
}
