import type { TextTranslation } from '../catalog.ts'
import type { pageTexts as english, connectionTexts as englishConnectionTexts } from '../pages.ts'

export const pageTexts: TextTranslation<typeof english> = {
  channels: 'القنوات',
  newRoom: 'غرفة جديدة',
  nearRooms: 'غرف بالقرب مني',
  ownTokens: 'من رموزي المميزة',
  room: 'غرفة',
  roomSettings: 'إعدادات الغرفة',
  live: 'مباشر',
  goLive: 'بدء بث مباشر',
  livestream: 'بث مباشر',
  calls: 'المكالمات',
  friends: 'الأصدقاء',
  starred: 'الرسائل المميّزة بنجمة',
  ownProfile: 'ملفك الشخصي',
  profile: 'ملف شخصي',
  agents: 'الوكلاء',
  newAgent: 'وكيل جديد',
  agent: 'وكيل',
  settings: 'الإعدادات',
  admin: 'الإدارة',
  invitation: 'دعوة',
  meeting: 'اجتماع',
  schedule: 'حجز مكالمة',
  call: 'مكالمة',
  opening: 'جارٍ الفتح: {page}',
  messageHint: 'يفتح هذا الرابط رسالةً بعد تسجيل دخولك.',
  skip: 'الانتقال إلى حقل الرسالة',
  missing: 'الصفحة غير موجودة',
  missingTitle: 'الصفحة غير موجودة · Plaza',
  missingHint: 'ربما كُتب العنوان خطأ أو حُذفت صفحته.',
  home: 'الانتقال إلى Plaza',
}

export const connectionTexts: TextTranslation<typeof englishConnectionTexts> = {
  caughtUp:
    'تم اللحاق بما فات: {events, plural, zero {لا أحداث} one {حدث واحد} two {حدثان} few {# أحداث} many {# حدثًا} other {# حدث}}، {gaps, plural, zero {لا فجوات} one {فجوة واحدة} two {فجوتان} few {# فجوات} many {# فجوة} other {# فجوة}}',
  problems: {
    offline: 'أنت غير متصل. تُرسل الرسائل التي تكتبها عندما يعود اتصالك.',
    rest: 'الاتصال محدود. قد تصل الرسائل الجديدة متأخرة.',
    closed: 'انقطع الاتصال. أعد تحميل الصفحة للاتصال من جديد.',
    cut: 'قطعتَ الاتصال. تُرسل الرسائل التي تكتبها عندما تتصل من جديد.',
  },
  reconnect: 'الاتصال من جديد',
}
