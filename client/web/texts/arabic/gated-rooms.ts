import type { TextTranslation } from '../catalog.ts'
import type { gatedRoomTexts as english } from '../gated-rooms.ts'

export const gatedRoomTexts: TextTranslation<typeof english> = {
  open: 'فتح',
  openOf: 'فتح {name}',
  join: 'انضمام',
  joinOf: 'الانضمام إلى {name}',
  near: {
    title: 'غرف بالقرب مني',
    hint: 'يمكن أن تكون للأماكن غرفة لمن هم فيها.',
    empty: 'لا غرف ضمن {distance}',
    create: 'إنشاء واحدة',
    refresh: 'تحديث',
    about:
      'على بُعد {distance} · {count, plural, zero {لا أعضاء} one {عضو واحد} two {عضوان} few {# أعضاء} many {# عضوًا} other {# عضو}} · ضمن {radius}',
  },
  tokens: {
    title: 'من رموزي المميزة',
    hint: 'لكل فعالية غرفة لكل من يملك رمزها المميز.',
    hintFor: 'لكل فعالية غرفة لكل من يملك رمزها المميز. تم التحقق لـ {addresses}.',
    and: '{first} و{second}',
    empty: 'لم يُعثر على رموز مميزة',
    others: 'لحاملي رموز مميزة أخرى',
    create: 'إنشاء',
    createOf: 'إنشاء قناة {name}',
    incomplete: 'لم يُجب مزوّد الرموز المميزة إجابة كاملة. قد تكون القائمة ناقصة.',
    unavailable: 'لا يبحث هذا الخادم عن كل الرموز المميزة، لأنه لم يُضبط أي مزوّد لها.',
    members: '{count, plural, zero {لا أعضاء} one {عضو واحد} two {عضوان} few {# أعضاء} many {# عضوًا} other {# عضو}}',
    noChannel: 'لا قناة بعد',
    event: 'فعالية · {about}',
    collection:
      'مجموعة من {count, plural, zero {# فعالية} one {فعالية واحدة} two {فعاليتين} few {# فعاليات} many {# فعالية} other {# فعالية}} · {about}',
  },
}
