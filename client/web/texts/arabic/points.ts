import type { TextTranslation } from '../catalog.ts'
import type { pointTexts as english } from '../points.ts'

export const pointTexts: TextTranslation<typeof english> = {
  count: '{count, plural, zero {لا نقاط} one {نقطة واحدة} two {نقطتان} few {# نقاط} many {# نقطة} other {# نقطة}}',
  earned:
    '{count, plural, zero {لم تكسب نقاطًا} one {كسبت نقطة واحدة} two {كسبت نقطتين} few {كسبت # نقاط} many {كسبت # نقطة} other {كسبت # نقطة}}.',
  refused: '{reason}.',
  worth: 'نقاط',
  earn: 'اكسب نقاطًا',
  claim: 'استلام',
  claimOf: 'استلام: {title}',
  go: 'الانتقال',
  goTo: 'الانتقال: {title}',
  done: 'تم',
  daily: {
    title: 'المكافأة اليومية',
    hint: 'مرة في اليوم. تبدأ الأيام عند منتصف الليل بالتوقيت العالمي.',
    claim: 'استلام المكافأة اليومية',
    again: 'مجددًا خلال {time}',
  },
  actions: {
    phone_verified: 'توثيق رقم هاتف',
    email_verified: 'توثيق عنوان بريد إلكتروني',
    five_friends: 'خمسة أصدقاء',
    ens_primary: 'تعيين اسم ENS أساسي',
    username_claimed: 'اختيار اسم مستخدم',
    social_added: 'إضافة ملف اجتماعي',
  },
  hints: {
    phone_verified: 'في «تسجيل الدخول والأمان».',
    email_verified: 'في «تسجيل الدخول والأمان».',
    five_friends: 'في «الأصدقاء»، فوق الغرف.',
    ens_primary: 'غير متاح على هذا الخادم.',
    username_claimed: 'في «الملف الشخصي».',
    social_added: 'بأداة على صفحة ملفك، في «الملف الشخصي».',
  },
  history: {
    title: 'سجل النقاط',
    empty: 'لا نقاط بعد.',
    older: 'عرض المزيد',
  },
  ranks: {
    title: 'لوحة المتصدرين',
    empty: 'لا أحد لديه نقاط بعد.',
    you: 'أنت',
    people:
      '{count, plural, zero {لا أحد لديه نقاط.} one {شخص واحد لديه نقاط.} two {شخصان لديهما نقاط.} few {# أشخاص لديهم نقاط.} many {# شخصًا لديهم نقاط.} other {# شخص لديهم نقاط.}}',
  },
  invites: {
    title: 'الدعوات',
    hint: 'أعطِ رمزًا لشخص جديد. عندما يستخدمه يحصل كل منكما على 100 نقطة.',
    left: 'بقي {left} من {count, plural, zero {# دعوة} one {دعوة واحدة} two {دعوتين} few {# دعوات} many {# دعوة} other {# دعوة}}.',
    usedBy: 'استخدمه {name}',
    copy: 'نسخ',
    copyOf: 'نسخ {code}',
    copied: 'تم النسخ',
    field: 'رمز الدعوة',
    example: 'هل دُعيت؟ أدخل رمزك',
    use: 'استخدام',
  },
}
