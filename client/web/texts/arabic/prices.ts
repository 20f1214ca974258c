import type { TextTranslation } from '../catalog.ts'
import type { priceTexts as english } from '../prices.ts'

export const priceTexts: TextTranslation<typeof english> = {
  costs: '{what, select, call {ثمن هذه المكالمة} other {ثمن هذه الإجابة}}',
  price: '{what, select, call {<b>{amount}</b> لهذه المكالمة} other {<b>{amount}</b> لهذه الإجابة}}',
  payee:
    '{money, select, real {بعملة USDC على {network}، تُدفع إلى <payee></payee>.} other {بعملة USDC على {network} (أموال تجريبية)، تُدفع إلى <payee></payee>.}}',
  noWallet: 'لا توجد محفظة في هذا المتصفح. أضف إضافة محفظة، أو افتح هذه الصفحة في متصفح تطبيق محفظتك.',
  payWith: 'الدفع عبر {name}',
  payTest: 'الدفع عبر محفظة تجريبية',
  notNow: 'ليس الآن',
  testHint:
    'المحفظة التجريبية مفتاح ينشئه هذا المتصفح ويحتفظ به. وهي فارغة: يتحقق الخادم من التوقيع فقط، ولا تتحرك أي أموال.',
  testWallet: 'محفظة تجريبية',
  testIsNotReal: 'لا تحتوي المحفظة التجريبية على أموال حقيقية.',
  refused: 'لم يقبل الخادم هذه الدفعة. لم يُخصم أي مبلغ.',
  problems: {
    INVALID_PAYMENT: 'هذه الدفعة أُجريت لشيء آخر ولا تصلح إلا له. لم يُخصم شيء هنا: حاول مرة أخرى بدفعة جديدة.',
    WRONG_NETWORK: 'كانت الدفعة لشبكة أخرى. لم يُخصم أي مبلغ.',
    INSUFFICIENT_PAYMENT: 'رصيد USDC في المحفظة غير كافٍ، أو تغيّر السعر. لم يُخصم أي مبلغ.',
    PAYMENT_EXPIRED: 'وصلت الدفعة متأخرة. لم يُخصم أي مبلغ. إذا تكرر ذلك، فتحقق من ساعة هذا الجهاز.',
    X402_PAYMENT_FAILED: 'فشلت الدفعة. لم يُخصم أي مبلغ.',
    X402_NOT_ENABLED: 'أصبح هذا الوكيل مجانيًا. أعد تحميل الصفحة لتسأله.',
    AGENT_NOT_PUBLIC: 'لم يعد هذا الوكيل عامًا.',
    AGENT_NOT_FOUND: 'حُذف هذا الوكيل.',
  },
}
