import type { TextTranslation } from '../catalog.ts'
import type { supportTexts as english } from '../support.ts'

export const supportTexts: TextTranslation<typeof english> = {
  report: {
    title: 'الإبلاغ عن مشكلة',
    category: 'الفئة',
    description: 'ما الذي حدث؟',
    steps: 'خطوات تكرار المشكلة (اختياري)',
    files: 'لقطات شاشة ومقاطع فيديو',
    addFiles: 'إضافة صور أو مقاطع فيديو',
    filesChosen:
      '{count, plural, zero {لم يُختر أي ملف} one {تم اختيار ملف واحد} two {تم اختيار ملفين} few {تم اختيار # ملفات} many {تم اختيار # ملفًا} other {تم اختيار # ملف}}',
    filesHint: 'يمكن لكل من لديه رابط ملف عرضه.',
    send: 'إرسال البلاغ',
    sent: 'شكرًا. وصل بلاغك إلى المسؤولين.',
  },
  reports: {
    filter: 'الحالة',
    list: 'بلاغات المشكلات',
    empty: 'لا بلاغات',
    emptyHint: 'يبلّغ الناس عن المشكلات من إعداداتهم.',
    file: 'الملف {number}',
    from: 'من <who>{name}</who>',
  },
  states: {
    open: 'مفتوح',
    in_progress: 'قيد المعالجة',
    resolved: 'محلول',
    closed: 'مغلق',
  },
  contact: {
    title: 'اتصل بنا',
    hint: 'تصل رسالتك إلى الفريق الذي يشغّل هذا الخادم. يرد بالبريد الإلكتروني.',
    name: 'اسمك',
    email: 'عنوان بريدك الإلكتروني',
    message: 'الرسالة',
    send: 'إرسال',
  },
}
