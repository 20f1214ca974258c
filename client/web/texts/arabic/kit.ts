import type { kitTexts as english } from '../kit.ts'
import type { SimpleTranslation } from '../simple-catalog.ts'

export const kitTexts: SimpleTranslation<typeof english> = {
  close: 'إغلاق',
  retry: 'إعادة المحاولة',
  deletedUser: 'حساب محذوف',
  loading: 'جارٍ التحميل',
  reload: 'إعادة التحميل',
  notLoaded: 'تعذّر تحميل هذا الجزء من الصفحة.',
  tooMuch: 'طلبات كثيرة جدًا.',
  retrying: 'إعادة المحاولة خلال {time}.',
  today: 'اليوم',
  yesterday: 'أمس',
  units: {
    d: '{count} ي',
    h: '{count} س',
    min: '{count} د',
    s: '{count} ث',
  },
  connection: {
    connecting: 'جارٍ الاتصال',
    online: 'مباشر',
    offline: 'غير متصل',
    rest: 'مباشر، مع تأخير',
    closed: 'منقطع',
  },
  problems: {
    unknown: 'حدث خطأ ما.',
    unreachable: 'لا يمكن الوصول إلى الخادم في الوقت الحالي.',
    tooMuch: 'طلبات كثيرة جدًا. حاول مجددًا خلال {time}.',
  },
  codes: {
    SERVICE_UNAVAILABLE: 'لا يمكن الوصول إلى الخادم في الوقت الحالي.',
    INTERNAL_ERROR: 'حدث خطأ في الخادم. حاول مجددًا بعد قليل.',
    DATABASE_ERROR: 'حدث خطأ في الخادم. حاول مجددًا بعد قليل.',
    UNAUTHORIZED: 'سجّل الدخول للقيام بذلك.',
    INVALID_SIGNATURE: 'لا يطابق التوقيع هذه المحفظة. حاول مجددًا.',
    NONCE_EXPIRED: 'انتهت صلاحية رسالة تسجيل الدخول. حاول مجددًا.',
    INVALID_NONCE: 'سبق استخدام رسالة تسجيل الدخول. حاول مجددًا.',
    INVALID_CODE: 'هذا الرمز خاطئ. تحقق منه وحاول مجددًا.',
    PASSKEY_NOT_FOUND: 'مفتاح المرور هذا غير معروف هنا. استخدم غيره أو أنشئ حسابًا.',
    UPSTREAM_ERROR: 'أعادت خدمة لازمة لذلك خطأ. حاول لاحقًا.',
    TIMEOUT: 'لم تستجب خدمة لازمة لذلك. حاول لاحقًا.',
  },
}
