import type { TextTranslation } from '../catalog.ts'
import type { operationTexts as english } from '../operations.ts'

export const operationTexts: TextTranslation<typeof english> = {
  title: 'التثبيت',
  settings: 'الإعدادات',
  switches: {
    registration_open: 'يمكن للأشخاص الجدد إنشاء حساب',
    uploads_allowed: 'يمكن رفع الملفات',
  },
  notice: {
    title: 'إشعار',
    hint: 'يظهر فوق كل شيء لكل من يفتح الصفحة.',
    show: 'عرضه',
    remove: 'إزالته',
    shown: 'يراه الجميع من الآن فصاعدًا.',
    removed: 'أُزيل الإشعار.',
  },
  broadcast: {
    title: 'رسالة جماعية',
    to: 'المستلمون',
    text: 'الرسالة',
    all_users: 'الجميع، من Plaza',
    friends: 'أصدقاؤك، منك',
    send: 'إرسال إلى {count, plural, zero {لا أحد} one {شخص واحد} two {شخصين} few {# أشخاص} many {# شخصًا} other {# شخص}}',
    sent: 'أُرسلت إلى {count, plural, zero {لا أحد} one {شخص واحد} two {شخصين} few {# أشخاص} many {# شخصًا} other {# شخص}}.',
    sending: 'أُرسلت إلى {sent} من {total}، وستصل البقية قريبًا.',
    reached: '{sent} من {total}',
    failed: 'تعذّر الوصول إلى {count}',
    underWay: 'جارٍ الإرسال',
  },
  cluster: {
    title: 'المجموعة',
    loading: 'جارٍ تحميل العُقد',
    none: 'لم ترسل أي عقدة تقريرًا بعد',
    noneHint: 'ترسل كل عقدة تقريرًا كل ثلاث ثوانٍ.',
    sum: '{nodes, plural, zero {لا عُقد} one {عقدة واحدة} two {عقدتان} few {# عُقد} many {# عقدة} other {# عقدة}} مع {count, plural, zero {لا اتصالات} one {اتصال واحد} two {اتصالين} few {# اتصالات} many {# اتصالًا} other {# اتصال}}، وتُحدّث كل ثلاث ثوانٍ.',
    node: 'العقدة',
    silent: 'صامتة منذ {time}',
    up: 'تعمل منذ {time}',
    rooms: '{count, plural, zero {لا غرف} one {غرفة واحدة} two {غرفتان} few {# غرف} many {# غرفة} other {# غرفة}}',
    away: 'غير متاح: {services}',
  },
  figures: {
    connections: 'الاتصالات',
    messages: 'الرسائل',
    delivery: 'التسليم',
    timers: 'تأخر المؤقتات',
    memory: 'الذاكرة',
  },
}
