import type { TextTranslation } from '../catalog.ts'
import type { walletTexts as english } from '../wallet.ts'

export const walletTexts: TextTranslation<typeof english> = {
  title: 'المحفظة',
  loading: 'جارٍ تحميل محفظتك',
  empty: 'لا محفظة بعد',
  emptyHint: 'محفظتك حساب ذكي يُنشأ بمفتاح مرور. له العنوان نفسه على كل سلسلة.',
  addPasskey: 'إضافة مفتاح مرور',
  address: 'العنوان',
  copy: 'نسخ',
  copied: 'تم النسخ.',
  notCopied: 'لم يسمح المتصفح بالنسخ.',
  signer: 'التوقيع بواسطة',
  signers: {
    eoa: 'محفظتك الخاصة',
    passkey: 'مفتاح المرور الأول',
    none: 'لا أحد بعد',
  },
  chain: 'على السلسلة',
  deployed: 'منشورة',
  notDeployed: 'ليس بعد. يمكنها استلام الأموال، وتُنشر مع أول معاملة لها.',
  safe: 'فتح في تطبيق Safe',
  balances: 'عرض الأرصدة',
  balancesLoading: 'جارٍ تحميل الأرصدة',
  balanceOn: '{symbol} على {chain}',
  unavailable: 'غير متاح في الوقت الحالي',
  guestWarning: 'محفظتك الخاصة مفتاح موجود في هذا المتصفح فقط. إن مسحت بياناته ضاعت الأموال. اختر محفظة أخرى.',
}
