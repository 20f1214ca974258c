import type { bookedCallTexts as english } from '../booked-calls.ts'
import type { TextTranslation } from '../catalog.ts'

export const bookedCallTexts: TextTranslation<typeof english> = {
  title: 'المكالمات',
  pages: {
    current: 'القادمة',
    past: 'السابقة والملغاة',
  },
  none: 'لا توجد أي مكالمات.',
  minutes: '{count} د',
  isCancelled: 'ملغاة',
  paid: {
    pending: 'قيد الدفع',
    paid: 'مدفوعة',
    refunded: 'رُدّ المبلغ',
  },
  cancelled: {
    kept: 'أُلغيت. لا يُردّ المبلغ المدفوع من هنا.',
    withdrawn: 'أُلغيت. لم يُخصم أي مبلغ.',
    unknown: 'أُلغيت. لم يُعرف بعد إن كان المبلغ قد خُصم.',
  },
  unbooked: 'غير محجوزة، وقد يُخصم المبلغ حتى {time}. ما خُصم صالح لموعد آخر: احجزه في هذا المتصفح',
  reason: 'السبب: {reason}',
  open: 'فتح',
  openOne: 'فتح: {time}',
  copyLink: 'نسخ الرابط',
  copyLinkOne: 'نسخ الرابط: {time}',
  copied: 'تم النسخ',
  cancel: 'إلغاء',
  cancelOne: 'إلغاء: {time}',
  cancelPaid: 'إلغاء دون رد المبلغ',
  dialog: {
    title: 'هل تريد إلغاء هذه المكالمة؟',
    text: 'لن تجري المكالمة في <b>{time}</b>، ويصبح موعدها متاحًا من جديد.',
    paid: 'لا يُردّ المبلغ المدفوع من هنا.',
    reason: 'السبب (اختياري)',
    keep: 'الإبقاء على المكالمة',
    cancel: 'إلغاء المكالمة',
  },
  share: {
    title: 'صفحتك',
    on: 'يمكن لأي شخص حجز مكالمة معك',
    slug: 'كلمة من اختيارك في عنوانها، إن أردت',
    slugHint: 'من 3 إلى 30 حرفًا لاتينيًا صغيرًا أو رقمًا أو شرطة',
    unpayable: 'لا يمكن حجز المكالمات المدفوعة: المدفوعات على شبكتها غير متاحة هنا.',
    copy: 'نسخ',
    copyAddress: 'نسخ عنوان صفحتك',
    save: 'حفظ',
    saved: 'تم الحفظ.',
  },
  problems: {
    EMAIL_NOT_VERIFIED: 'أضف أولاً عنوان بريد إلكتروني في «تسجيل الدخول والأمان»: تُرسل إليه رسائل المكالمات.',
    SLUG_TAKEN: 'هذا العنوان مستخدم. اختر عنوانًا آخر.',
  },
}
