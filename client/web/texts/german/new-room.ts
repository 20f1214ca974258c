import type { TextTranslation } from '../catalog.ts'
import type { newRoomTexts as english } from '../new-room.ts'

export const newRoomTexts: TextTranslation<typeof english> = {
  title: 'Neuer Raum',
  type: 'Art des Raums',
  name: 'Name',
  about: 'Beschreibung (optional)',
  cancel: 'Abbrechen',
  creating: 'Wird erstellt …',
  createChannel: {
    title: 'Kanal',
    hint: 'Offen für alle. Er gehört dir, und du legst seine Regeln fest.',
    create: 'Kanal erstellen',
  },
  createGroup: {
    title: 'Gruppe',
    hint: 'Nur auf Einladung. Freunde sind sofort dabei, andere müssen zustimmen.',
    create: 'Gruppe erstellen',
    members: 'Namen, @Benutzernamen oder Adressen der Mitglieder (optional)',
  },
  createTokenRoom: {
    title: 'Token-Raum',
    hint: 'Für alle, die einen Token besitzen. Bei jedem Beitritt wird seine Chain geprüft.',
    create: 'Token-Raum erstellen',
    address: 'Adresse des Tokens, ERC-20 oder ERC-721 (0x…)',
    chain: 'Chain-ID',
    least: 'Mindestguthaben der Mitglieder',
    addressInvalid: 'Die Adresse eines Tokens ist 0x und 40 Ziffern oder Buchstaben von a bis f.',
    chainUnknown: 'Dieser Server unterstützt diese Chain nicht.',
    tooFine: 'Dieser Token hat höchstens {decimals} Nachkommastellen.',
  },
  createLocationRoom: {
    title: 'Ortsraum',
    hint: 'Für Leute in der Nähe des Ortes, an dem du gerade bist.',
    create: 'Ortsraum erstellen',
    radius: 'Umkreis in Metern (50 bis 50.000)',
    privacy:
      'Der Ort ist der Standort deines Browsers beim Erstellen des Raums, auf etwa zehn Meter genau. Alle können ihn sehen. Mitglieder geben ihren eigenen Standort an, den niemand überprüfen kann. Ein Ort hat einen einzigen Raum; wenn es ihn schon gibt, wird er geöffnet.',
  },
}
