import type { TextTranslation } from '../catalog.ts'
import type { outerProblemTexts as english } from '../outer-problems.ts'

export const outerProblemTexts: TextTranslation<typeof english> = {
  devices: {
    NotAllowedError: 'لم يستجب جهازك أو أغلقتَ نافذته. لم يتغير شيء.',
    AbortError: 'لم يستجب جهازك أو أغلقتَ نافذته. لم يتغير شيء.',
    InvalidStateError: 'لهذا الجهاز مفتاح مرور لهذا الحساب بالفعل.',
    NotSupportedError: 'لا يدعم هذا الجهاز مفاتيح المرور هذه.',
    SecurityError: 'لا تعمل مفاتيح المرور على عنوان الموقع هذا.',
  },
  wallets: {
    declined: 'رفضت المحفظة الطلب. لم يُوقَّع شيء.',
    notAllowed: 'تحظر محفظتك هذا الموقع. اسمح به هناك ثم حاول مجددًا.',
    unsupported: 'لا تستطيع هذه المحفظة توقيع الرسائل.',
    disconnected: 'محفظتك غير متصلة. افتحها ثم حاول مجددًا.',
    pending: 'في محفظتك طلب مفتوح. أجب عنه هناك ثم حاول مجددًا.',
    failed: 'لم تتمكن المحفظة من التوقيع. افتح قفلها ثم حاول مجددًا.',
  },
}
