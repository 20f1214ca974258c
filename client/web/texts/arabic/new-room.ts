import type { TextTranslation } from '../catalog.ts'
import type { newRoomTexts as english } from '../new-room.ts'

export const newRoomTexts: TextTranslation<typeof english> = {
  title: 'غرفة جديدة',
  type: 'نوع الغرفة',
  name: 'الاسم',
  about: 'الوصف (اختياري)',
  cancel: 'إلغاء',
  creating: 'جارٍ الإنشاء…',
  createChannel: {
    title: 'قناة',
    hint: 'مفتوحة للجميع. أنت تملكها وتضع قواعدها.',
    create: 'إنشاء قناة',
  },
  createGroup: {
    title: 'مجموعة',
    hint: 'بالدعوة فقط. يُضاف الأصدقاء فورًا، وعلى الآخرين القبول.',
    create: 'إنشاء مجموعة',
    members: 'أسماء الأعضاء أو @أسماء المستخدمين أو عناوينهم (اختياري)',
  },
  createTokenRoom: {
    title: 'غرفة رمز مميز',
    hint: 'لحاملي رمز مميز. تُفحص سلسلته كلما انضم أحد.',
    create: 'إنشاء غرفة رمز مميز',
    address: 'عنوان الرمز المميز، ERC-20 أو ERC-721 (0x…)',
    chain: 'معرّف السلسلة',
    least: 'أقل رصيد للأعضاء',
    addressInvalid: 'عنوان الرمز المميز هو 0x ثم 40 رقمًا أو حرفًا من a إلى f.',
    chainUnknown: 'لا يدعم هذا الخادم هذه السلسلة.',
    tooFine: 'لهذا الرمز المميز {decimals} منازل عشرية على الأكثر.',
  },
  createLocationRoom: {
    title: 'غرفة مكان',
    hint: 'لمن هم قرب المكان الذي أنت فيه الآن.',
    create: 'إنشاء غرفة مكان',
    radius: 'نصف القطر بالأمتار (من 50 إلى 50,000)',
    privacy:
      'المكان هو موضع متصفحك عند إنشاء الغرفة، بدقة نحو عشرة أمتار. يمكن للجميع رؤيته. يصرّح الأعضاء بموضعهم، ولا يمكن لأحد التحقق منه. للمكان غرفة واحدة؛ فإن وُجدت تُفتح.',
  },
}
